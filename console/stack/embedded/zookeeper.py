"""The embedded ZooKeeper: the real server, from the jars that pyspark ships.

Its data stay in `<folder>/data`; one server on 127.0.0.1 without the HTTP admin server, which
would open a second port. A tick of 500 ms keeps session timeouts short (2 to 20 ticks). The
command line stands in the Procfile.
"""

import importlib.util
from pathlib import Path

_CONFIG = """# Written at every start; change settings in the environment instead.
tickTime=500
dataDir={data}
clientPort={port}
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
autopurge.snapRetainCount=3
autopurge.purgeInterval=1
"""


def jars_folder() -> Path:
    """The folder of pyspark's jars, found without importing pyspark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pyspark is not installed: run `make up`, which installs it")
    return Path(spec.origin).parent / "jars"


def write_config(folder: Path, port: int) -> Path:
    """Write `folder`/zoo.cfg for a server on `port`; returns its path."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    config = folder / "zoo.cfg"
    config.write_text(_CONFIG.format(data=data, port=port))
    return config

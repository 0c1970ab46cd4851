"""The configuration of the embedded ZooKeeper, which runs from the jars that pyspark ships.

One server listens on 127.0.0.1; its data is in `<folder>/data`. The HTTP admin server is off, since
it would open a second port. `tickTime` is 500 ms for short session timeouts (2 to 20 times the
tickTime). The command line is in the Procfile.

Every local user can connect, so ZooKeeper requires the brokers' name and password (SASL,
DIGEST-MD5) for every request, reads included: a session's password can be computed from its id, so
a reader could close other clients' sessions. Server and brokers read the credentials from JAAS
files of mode 0600, in the format that Apache Kafka uses. Before a client is authenticated, the
server allocates as many bytes as the client announces. CONNECTIONS_MAX × `jute.maxbuffer` (in the
Procfile) limits this to a quarter of the smallest heap. Connections without a session are closed
after two seconds.
"""

import importlib.util
from pathlib import Path

from monitoring import secret_files

CONNECTIONS_MAX = 60
BROKERS_NAME = "broker"
_CONFIG = """# Written at every start; change settings in the environment instead.
tickTime=500
dataDir={data}
clientPort={port}
clientPortAddress=127.0.0.1
maxCnxns={connections}
maxClientCnxns={connections}
nio.sessionlessCnxnTimeout=2000
authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider
sessionRequireClientSASLAuth=true
admin.enableServer=false
4lw.commands.whitelist=srvr
autopurge.snapRetainCount=3
autopurge.purgeInterval=1
"""
_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
_SERVER_LOGIN = """Server {{
    {module} required
    user_{name}="{password}";
}};
"""
_BROKER_LOGIN = """Client {{
    {module} required
    username="{name}"
    password="{password}";
}};
"""


def jars_folder() -> Path:
    """The folder of pyspark's jars; does not import pyspark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pyspark is not installed: run `make up`, which installs it")
    return Path(spec.origin).parent / "jars"


def broker_login(folder: Path) -> Path:
    """The path of the brokers' JAAS file."""
    return folder / "broker.jaas"


def write_config(folder: Path, port: int, password: str) -> Path:
    """Write `folder`/zoo.cfg for a server on `port`, and the JAAS files; returns the path of
    zoo.cfg."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    values = {"module": _MODULE, "name": BROKERS_NAME, "password": password}
    secret_files.write_config(folder / "server.jaas", _SERVER_LOGIN.format(**values))
    secret_files.write_config(broker_login(folder), _BROKER_LOGIN.format(**values))
    config = folder / "zoo.cfg"
    config.write_text(_CONFIG.format(data=data, port=port, connections=CONNECTIONS_MAX))
    return config

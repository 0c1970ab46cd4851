"""The embedded ZooKeeper: the real server, from the jars that pyspark ships.

Its data stay in `<folder>/data`; one server on 127.0.0.1 without the HTTP admin server, which
would open a second port. A tick of 500 ms keeps session timeouts short (2 to 20 ticks). The
command line stands in the Procfile.

Whoever is on this machine reaches it, so nobody is served who does not show the brokers' name and
password (SASL, DIGEST-MD5), not even to read: the password of a session can be computed from its
id, so that its owner's could be ended. Both sides have them from JAAS files of mode 0600; that of
brokers is one that Apache Kafka takes too. Before they are shown, a connection can make the server
set aside as much as it announces: CONNECTIONS_MAX × `jute.maxbuffer` (in the Procfile) is a quarter
of the smallest heap. Connections that open no session end after two seconds.
"""

import importlib.util
from pathlib import Path

from monitoring import secretfiles

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
    """The folder of pyspark's jars, found without importing pyspark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("pyspark is not installed: run `make up`, which installs it")
    return Path(spec.origin).parent / "jars"


def broker_login(folder: Path) -> Path:
    """The JAAS file of the brokers."""
    return folder / "broker.jaas"


def write_config(folder: Path, port: int, password: str) -> Path:
    """Write `folder`/zoo.cfg for a server on `port`, and the JAAS files; returns its path."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    values = {"module": _MODULE, "name": BROKERS_NAME, "password": password}
    secretfiles.write(folder / "server.jaas", _SERVER_LOGIN.format(**values))
    secretfiles.write(broker_login(folder), _BROKER_LOGIN.format(**values))
    config = folder / "zoo.cfg"
    config.write_text(_CONFIG.format(data=data, port=port, connections=CONNECTIONS_MAX))
    return config

"""The `server.properties` files of the embedded brokers."""

from pathlib import Path

from monitoring.tcp_ports import ADMIN_PORT_ABOVE

_PROPERTIES = """# Written at every start; change settings in the environment instead.
broker.id={id}
listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={folder}/logs
zookeeper.connect={zookeeper}
num.partitions=3
offsets.topic.num.partitions=50
offsets.topic.replication.factor=1
default.replication.factor=1
log.segment.bytes=16777216
log.roll.ms=900000
log.retention.hours=168
log.retention.bytes=268435456
log.retention.check.interval.ms=60000
brokerd.admin.port={admin_port}
brokerd.admin.token.file={token_file}
"""
_ZOOKEEPER_LOGIN = """zookeeper.set.acl=true
brokerd.zookeeper.jaas.file={login}
"""


def write_properties(
    data: Path,
    broker_id: int,
    port: int,
    zookeeper: str,
    token_file: Path,
    zookeeper_login: Path | None = None,
) -> Path:
    """Write `<data>/brokerd-N/server.properties` for broker N; returns its path.

    Segments are small and roll every 15 minutes, so that the demo traffic gives the segment pages
    and retention something to show. `zookeeper_login`: the JAAS file, if ZooKeeper requires a
    login.
    """
    folder = data / f"brokerd-{broker_id}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "server.properties"
    text = _PROPERTIES.format(
        id=broker_id,
        port=port,
        folder=folder,
        zookeeper=zookeeper,
        admin_port=port + ADMIN_PORT_ABOVE,
        token_file=token_file,
    )
    if zookeeper_login is not None:
        text += _ZOOKEEPER_LOGIN.format(login=zookeeper_login)
    path.write_text(text)
    return path

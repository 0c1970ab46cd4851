"""The settings of the cluster layer."""

from dataclasses import dataclass
from pathlib import Path

from brokerd.cluster.zookeeper.zk_data import Endpoint
from brokerd.security.jaas import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """`zookeeper_connect` is hosts with an optional chroot (`a:2181,b:2181/aerie`); `session_file`
    is in a log directory that this process has locked. `cluster_id` is that of the log directories,
    '' if they are new. `endpoints` are those at the start. `set_acl`: only clients with the same
    `credentials` may write the nodes of this broker in ZooKeeper."""

    broker_id: int
    endpoints: tuple[Endpoint, ...]
    zookeeper_connect: str
    session_file: Path
    cluster_id: str = ""
    session_timeout_ms: int = 18_000
    connect_timeout_ms: int = 18_000
    rack: str | None = None
    default_partitions: int = 1
    default_replication_factor: int = 1
    offsets_partitions: int = 50
    offsets_segment_bytes: int = 104_857_600
    delete_topics: bool = True
    stopped_cleanly: bool = False
    credentials: Credentials | None = None
    set_acl: bool = False

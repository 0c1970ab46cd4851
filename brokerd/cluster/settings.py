"""The settings of the cluster layer."""

from dataclasses import dataclass
from pathlib import Path

from brokerd.cluster.zookeeper.registered_broker import Endpoint
from brokerd.security.jaas import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """What the cluster layer needs of a broker's config, with ports as they were really bound.

    `zookeeper_connect` is hosts with an optional chroot (`a:2181,b:2181/aerie`); `session_file`
    lies in a log directory that this process has locked. `cluster_id` is that of the log
    directories, '' where they are new. `endpoints` are those at the start. `stopped_cleanly` says
    that the log directories are as a clean stop left them. `set_acl` says that only who shows the
    same `credentials` may write what this broker makes in ZooKeeper.
    """

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

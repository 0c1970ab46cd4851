"""What callers ask of the cluster and what they get back: plain values between handlers and
ClusterClient."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from brokerd.security.jaas import Credentials

DEFAULT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An advertised listener: its name, its security protocol and where clients reach it."""

    listener: str
    security_protocol: str
    host: str
    port: int


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic to create. With `assignment` (partition → replicas) partitions and replication_factor
    stay DEFAULT; without it DEFAULT means the broker's default. A setting in `config` that is None
    is refused."""

    name: str
    partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignment: dict[int, tuple[int, ...]] = field(default_factory=dict)
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTopic:
    """A topic that was created (or, with validate only, would have been)."""

    name: str
    topic_id: UUID
    partitions: int
    replication_factor: int
    config: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Growth of a topic to `total` partitions; `assignment` holds the replicas of each added one,
    in order; without one (None) they are placed."""

    topic: str
    total: int
    assignment: tuple[tuple[int, ...], ...] | None = None

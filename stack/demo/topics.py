"""The topics of the demo traffic and the consumer groups that read them. Pure."""

from dataclasses import dataclass, field

from monitoring.topic_names import CONSOLE_ACCESS, CONSOLE_AUDIT

HOST_PROCESSES = "host.processes"
HOST_CPU = "host.cpu"
BROKERD_EVENTS = "brokerd.events"
LOAD_SEQUENCE = "load.sequence"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create, with the settings that differ from the broker's defaults."""

    name: str
    partitions: int
    config: dict[str, str] = field(default_factory=dict)


_DAY_MS = 24 * 60 * 60 * 1000

REAL = (
    Topic(HOST_PROCESSES, 6, {"retention.ms": str(2 * _DAY_MS)}),
    Topic(HOST_CPU, 3, {"retention.ms": str(2 * _DAY_MS)}),
    Topic(CONSOLE_ACCESS, 3, {"retention.ms": str(7 * _DAY_MS)}),
    Topic(CONSOLE_AUDIT, 1, {"retention.ms": str(30 * _DAY_MS)}),
    Topic(BROKERD_EVENTS, 3, {"retention.ms": str(7 * _DAY_MS)}),
)
LOAD = Topic(LOAD_SEQUENCE, 6, {"retention.bytes": str(256 * 1024 * 1024)})


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group, its topics and the number of its members."""

    name: str
    topics: tuple[str, ...]
    members: int = 1


FAST = Group("demo-fast", tuple(topic.name for topic in REAL), members=2)
SLOW = Group("demo-slow", (HOST_PROCESSES,))
ON_OFF = Group("demo-on-off", (HOST_PROCESSES, HOST_CPU))

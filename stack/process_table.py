"""The table of the stack's processes: start order, stop order, and the readiness probe of each.

Start: a process starts when all processes in `after` are ready. The fork server starts those that
come after it, if it runs (fork_server.py). Stop: by stage, the highest first.
A process that does not stop within the stage's grace period is killed. The grace periods add up to
less than 10 s, the limit for Ctrl-C. A Procfile line that is not in the table starts at once,
counts as ready when it runs, and stops first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from monitoring.background.queues import QUEUES
from stack.fork_server import READY


class ProbeKind(StrEnum):
    """The kinds of readiness probes; probes.py implements them."""

    NONE = "none"  # ready as soon as it runs
    EXIT = "exit"  # a one-shot task: ready when it has ended with status 0
    LINE = "line"  # prints a line that contains the target
    HTTP = "http"  # answers GET target with 200
    TCP = "tcp"  # accepts a connection on port target
    ZOOKEEPER = "zookeeper"  # answers `srvr` on port target
    REDIS = "redis"  # answers PING
    TICK = "tick"  # has sampled a tick in which `target` brokers are up


@dataclass(frozen=True, slots=True)
class Probe:
    """A readiness probe; `$NAME` in the target is a variable, as in the Procfile."""

    kind: ProbeKind
    target: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """How a process starts and stops.

    Attributes:
        is_required: "Aerie is ready" waits for it.
        memory_max_mb: with more it is restarted when it is idle (idle_memory.py); its probe is TCP.
            None = no limit.
    """

    stage: int
    after: tuple[str, ...] = ()
    probe: Probe = Probe(ProbeKind.NONE)
    is_required: bool = True
    memory_max_mb: int | None = None

    @property
    def is_task(self) -> bool:
        """True for a one-shot task, which ends by itself."""
        return self.probe.kind is ProbeKind.EXIT


GRACE_MS = {0: 1_500, 1: 4_000, 2: 4_000}  # stage → how long it may take to stop
LAST_STAGE = max(GRACE_MS)
STORES_STAGE = 0
"""The stage of ZooKeeper and Redis. They stop last, since the others still write to them."""

FORK_SERVER = "fork-server"
"""It stops after its forks, since its end would end them."""

_LOGIN_PAGE = "http://127.0.0.1:$AERIE_PORT/login"
_WORKER_PROBE = Probe(ProbeKind.LINE, " ready.")
_PROBES = {"sampling": Probe(ProbeKind.TICK, "3")}  # queue → its probe, if not _WORKER_PROBE
_NEEDED_BY_CONSOLE = ("prepare", "redis", FORK_SERVER)
_BROKERS = ("broker-1", "broker-2", "broker-3")

ROLES: dict[str, Role] = {
    "zookeeper": Role(STORES_STAGE, (), Probe(ProbeKind.ZOOKEEPER, "$ZOOKEEPER_PORT")),
    "redis": Role(STORES_STAGE, (), Probe(ProbeKind.REDIS)),
    "broker-1": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_1_ADMIN/readyz")),
    "broker-2": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_2_ADMIN/readyz")),
    "broker-3": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_3_ADMIN/readyz")),
    "prepare": Role(2, (), Probe(ProbeKind.EXIT)),
    FORK_SERVER: Role(1, (), Probe(ProbeKind.LINE, READY)),
    "web": Role(2, _NEEDED_BY_CONSOLE, Probe(ProbeKind.HTTP, _LOGIN_PAGE)),
    **{
        queue.process_name: Role(2, _NEEDED_BY_CONSOLE, _PROBES.get(queue.name, _WORKER_PROBE))
        for queue in QUEUES.values()
    },
    "beat": Role(2, _NEEDED_BY_CONSOLE),  # the probe of `sampling` covers it
    "demo": Role(2, _BROKERS),
    # Starts last and is not required: its start takes a whole core for some seconds. Stops after
    # the worker that uses it.
    "spark": Role(
        1,
        ("web", "sampling"),
        Probe(ProbeKind.TCP, "$SPARK_CONNECT_PORT"),
        is_required=False,
        memory_max_mb=400,
    ),
}


def roles_for(names: Iterable[str]) -> dict[str, Role]:
    """The roles of the processes that run; processes that do not run are removed from `after`."""
    names = list(names)
    roles: dict[str, Role] = {}
    for name in names:
        role = ROLES.get(name, Role(LAST_STAGE))
        after = tuple(other for other in role.after if other in names)
        roles[name] = replace(role, after=after)
    return roles

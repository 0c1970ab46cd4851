"""Order of start and stop of the stack, and what "ready" means for each process, as one table.

Start: a process starts once everything in `after` is ready. Stop: by stage, the highest first,
each stage within its grace; what is then left is killed. The graces add up to less than the 10 s
within which Ctrl-C must end everything. A Procfile line that is not in the table starts at once,
counts as ready when it runs, and stops first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from monitoring.queues import QUEUES


class ProbeKind(StrEnum):
    """How to ask a process whether it is ready; probes.py carries them out."""

    NONE = "none"  # ready as soon as it runs
    EXIT = "exit"  # a task: ready when it has ended with status 0
    LINE = "line"  # prints a line that contains the target
    HTTP = "http"  # answers GET target with 200
    TCP = "tcp"  # accepts a connection on port target
    ZOOKEEPER = "zookeeper"  # answers `srvr` on port target
    REDIS = "redis"  # answers PING
    TICK = "tick"  # has sampled a tick that knows `target` brokers


@dataclass(frozen=True, slots=True)
class Probe:
    """A question; `$NAME` in the target is a variable, as in the Procfile."""

    kind: ProbeKind
    target: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """A process's place in the order. `waited_for`: "Aerie is ready" waits for it."""

    stage: int
    after: tuple[str, ...] = ()
    probe: Probe = Probe(ProbeKind.NONE)
    waited_for: bool = True

    @property
    def is_task(self) -> bool:
        """True for a process that is meant to end by itself."""
        return self.probe.kind is ProbeKind.EXIT


GRACE_MS = {0: 1_500, 1: 4_000, 2: 4_000}  # how long a stage may take to stop
LAST_STAGE = max(GRACE_MS)
STORES_STAGE = 0
"""What others write their last words to: ZooKeeper and Redis stop after everything else."""

_LOGIN_PAGE = "http://127.0.0.1:$AERIE_PORT/login"
_WORKER = Probe(ProbeKind.LINE, " ready.")
_PROBES = {"sampling": Probe(ProbeKind.TICK, "3")}  # of workers that say more than `ready`
_BROKERS = ("broker-1", "broker-2", "broker-3")

ROLES: dict[str, Role] = {
    "zookeeper": Role(STORES_STAGE, (), Probe(ProbeKind.ZOOKEEPER, "$ZOOKEEPER_PORT")),
    "redis": Role(STORES_STAGE, (), Probe(ProbeKind.REDIS)),
    "broker-1": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_1_ADMIN/readyz")),
    "broker-2": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_2_ADMIN/readyz")),
    "broker-3": Role(1, ("zookeeper",), Probe(ProbeKind.HTTP, "$BROKER_3_ADMIN/readyz")),
    "prepare": Role(2, (), Probe(ProbeKind.EXIT)),
    "web": Role(2, ("prepare", "redis"), Probe(ProbeKind.HTTP, _LOGIN_PAGE)),
    **{
        queue.process_name: Role(2, ("prepare", "redis"), _PROBES.get(queue.name, _WORKER))
        for queue in QUEUES.values()
    },
    "beat": Role(2, ("prepare", "redis")),  # that it works shows in the first tick
    "demo": Role(2, _BROKERS),
    # Starts last and is not waited for: it takes a whole core for some seconds. Stops after the
    # worker that uses it.
    "spark": Role(
        1, ("web", "sampling"), Probe(ProbeKind.TCP, "$SPARK_CONNECT_PORT"), waited_for=False
    ),
}


def roles_for(names: Iterable[str]) -> dict[str, Role]:
    """The roles of the processes that are really run: nothing waits for one that is not."""
    names = list(names)
    roles: dict[str, Role] = {}
    for name in names:
        role = ROLES.get(name, Role(LAST_STAGE))
        after = tuple(other for other in role.after if other in names)
        roles[name] = Role(role.stage, after, role.probe, role.waited_for)
    return roles

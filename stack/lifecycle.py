"""Decides what the supervisor does next: which process to start, end or start again, and when.

Pure: no process, clock or socket. The adapter (supervisor.py) tells what happened together with
`now_ms` and carries out the actions it gets back. Each call returns actions in order.

A process that dies starts again after 0.5 s, 1 s, 2 s … 30 s; one that was ready for 30 s begins
again at 0.5 s.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stack.plan import GRACE_MS, Role
from stack.states import RUNNING, SETTLED, TRANSITIONS, Event, State

BACKOFF_FIRST_MS = 500
BACKOFF_MAX_MS = 30_000
STEADY_AFTER_MS = 30_000
SLOW_AFTER_MS = 20_000
SAME_REQUEST_MS = 1_000


@dataclass(frozen=True, slots=True)
class Start:
    """Run the process's command."""

    name: str


@dataclass(frozen=True, slots=True)
class Terminate:
    """Ask the process to end (SIGTERM)."""

    name: str


@dataclass(frozen=True, slots=True)
class Kill:
    """End the process and all its children now (SIGKILL)."""

    name: str


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Announce:
    """Everything that is waited for is ready, for the first time."""


Action = Start | Terminate | Kill | Say | Announce


@dataclass(slots=True)
class Process:
    """What is known of one process."""

    role: Role
    state: State = State.WAITING
    since_ms: int = 0  # when it entered this state
    deaths: int = 0  # in a row
    due_at_ms: int = 0  # BACKOFF: when to start; STOPPING: when to kill
    slow_said: bool = False


def how_it_ended(status: int) -> str:
    """An exit status in words; negative = the signal that killed it, as asyncio reports it."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


def backoff_ms(deaths: int) -> int:
    """How long to wait after so many deaths in a row (≥ 1)."""
    doublings = min(deaths - 1, 16)
    return min(BACKOFF_FIRST_MS << doublings, BACKOFF_MAX_MS)


class Stack:
    """The states of all processes."""

    def __init__(self, roles: Mapping[str, Role], now_ms: int) -> None:
        self.processes = {name: Process(role, since_ms=now_ms) for name, role in roles.items()}
        self.stopping = False
        self._announced = False
        self._stop_asked_ms = 0

    @property
    def is_gone(self) -> bool:
        """True once a stop has ended everything."""
        return all(process.state is State.GONE for process in self.processes.values())

    @property
    def is_ready(self) -> bool:
        """True while everything that is waited for is ready."""
        return all(
            process.state in SETTLED
            for process in self.processes.values()
            if process.role.waited_for
        )

    def advance(self, now_ms: int) -> list[Action]:
        """What the passing of time makes due."""
        return self._advance_stop(now_ms) if self.stopping else self._advance_start(now_ms)

    def answered(self, name: str, now_ms: int) -> list[Action]:
        """The probe of a starting process succeeded."""
        process = self.processes[name]
        if process.state is not State.STARTING:
            return []  # it died or was stopped while the answer was on its way
        took_s = (now_ms - process.since_ms) / 1000
        self._move(process, Event.ANSWERED, now_ms)
        return [Say(f"{name} is ready ({took_s:.1f} s)"), *self._settled(now_ms)]

    def exited(self, name: str, status: int, now_ms: int) -> list[Action]:
        """A process ended, whether or not it was asked to."""
        process = self.processes[name]
        if self.stopping and process.state is not State.STOPPING:
            self._move(process, Event.STOP, now_ms)  # before its turn came
        if process.state is State.STOPPING:
            self._move(process, Event.EXITED, now_ms)
            return self._advance_stop(now_ms)
        if process.role.is_task and status == 0:
            self._move(process, Event.COMPLETED, now_ms)
            return self._settled(now_ms)
        steady = process.state is State.READY and now_ms - process.since_ms >= STEADY_AFTER_MS
        process.deaths = 1 if steady else process.deaths + 1
        self._move(process, Event.EXITED, now_ms)
        delay_ms = backoff_ms(process.deaths)
        process.due_at_ms = now_ms + delay_ms
        return [Say(f"{name} {how_it_ended(status)}; it starts again in {delay_ms / 1000:g} s")]

    def stop(self, now_ms: int) -> list[Action]:
        """Stop everything, in order; asked again after a second or more, at once.

        One Ctrl-C can arrive twice, from the terminal and by way of make.
        """
        if self.stopping:
            if now_ms - self._stop_asked_ms < SAME_REQUEST_MS:
                return []
            running = [name for name, p in self.processes.items() if p.state in RUNNING]
            return [Kill(name) for name in running]
        self.stopping = True
        self._stop_asked_ms = now_ms
        for process in self.processes.values():
            if process.state not in RUNNING:
                self._move(process, Event.STOP, now_ms)
        return self._advance_stop(now_ms)

    def _advance_start(self, now_ms: int) -> list[Action]:
        actions: list[Action] = []
        for name, process in self.processes.items():
            if self._is_due(process, now_ms):
                self._move(process, Event.DUE, now_ms)
                actions.append(Start(name))
            elif process.state is State.STARTING and self._is_slow(process, now_ms):
                process.slow_said = True
                waited_s = (now_ms - process.since_ms) // 1000
                actions.append(Say(f"{name} does not answer yet ({waited_s} s)"))
        return actions

    def _advance_stop(self, now_ms: int) -> list[Action]:
        running = {name: p for name, p in self.processes.items() if p.state in RUNNING}
        if not running:
            return []
        stage = max(process.role.stage for process in running.values())
        actions: list[Action] = []
        for name, process in running.items():
            if process.role.stage != stage:
                continue
            if process.state is not State.STOPPING:
                self._move(process, Event.STOP, now_ms)
                process.due_at_ms = now_ms + GRACE_MS[stage]
                actions.append(Terminate(name))
            elif now_ms >= process.due_at_ms:
                process.due_at_ms = now_ms + GRACE_MS[stage]
                actions += [Say(f"{name} did not stop in time; it is killed"), Kill(name)]
        return actions

    def _is_due(self, process: Process, now_ms: int) -> bool:
        if process.state is State.WAITING:
            return all(self.processes[other].state in SETTLED for other in process.role.after)
        return process.state is State.BACKOFF and now_ms >= process.due_at_ms

    @staticmethod
    def _is_slow(process: Process, now_ms: int) -> bool:
        return not process.slow_said and now_ms - process.since_ms >= SLOW_AFTER_MS

    def _settled(self, now_ms: int) -> list[Action]:
        actions = self._advance_start(now_ms) if not self.stopping else []
        if self.is_ready and not self._announced:
            self._announced = True
            actions.append(Announce())
        return actions

    @staticmethod
    def _move(process: Process, event: Event, now_ms: int) -> None:
        process.state = TRANSITIONS[process.state, event]
        process.since_ms = now_ms
        process.slow_said = False

"""The supervisor's state machine: decides which process to start, stop or restart, and when.

Pure: no process, clock or socket. supervisor.py calls it for each event, with `now_ms`, and carries
out the actions that it returns, in order.

A process that ends unexpectedly is restarted after 0.5 s, 1 s, 2 s … 30 s. After 30 s of being
ready the backoff starts again at 0.5 s. One that `restart` ends is started again at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stack.process_states import RUNNING, SETTLED, TRANSITIONS, Event, State
from stack.process_table import GRACE_MS, Role

BACKOFF_FIRST_MS = 500
BACKOFF_MAX_MS = 30_000
STABLE_AFTER_MS = 30_000
SLOW_AFTER_MS = 20_000
SAME_REQUEST_MS = 1_000  # a stop request within this time is the same one


@dataclass(frozen=True, slots=True)
class Start:
    """Run the command of the process."""

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
class PrintLine:
    """Print a line for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class AnnounceReady:
    """All required processes are ready for the first time: print the ready line."""


Action = Start | Terminate | Kill | PrintLine | AnnounceReady


@dataclass(slots=True)
class Process:
    """The state of one process."""

    role: Role
    state: State = State.WAITING
    since_ms: int = 0  # when it entered this state
    failures: int = 0  # consecutive unexpected exits
    due_at_ms: int = 0  # BACKOFF: when to start; STOPPING: when to kill
    slow_reported: bool = False
    is_restarting: bool = False  # `restart` has asked it to end


def describe_exit(status: int) -> str:
    """An exit status in words. Negative: minus the signal's number, as asyncio reports it."""
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


def backoff_ms(failures: int) -> int:
    """How long to wait after this number of consecutive failures (≥ 1)."""
    doublings = min(failures - 1, 16)
    return min(BACKOFF_FIRST_MS << doublings, BACKOFF_MAX_MS)


class Stack:
    """The states of all processes."""

    def __init__(self, roles: Mapping[str, Role], now_ms: int) -> None:
        self.processes = {name: Process(role, since_ms=now_ms) for name, role in roles.items()}
        self.stopping = False
        self._announced = False
        self._stop_requested_ms = 0

    @property
    def is_stopped(self) -> bool:
        """True when a stop has ended all processes."""
        return all(process.state is State.STOPPED for process in self.processes.values())

    @property
    def is_ready(self) -> bool:
        """True while all required processes are ready."""
        return all(
            process.state in SETTLED
            for process in self.processes.values()
            if process.role.is_required
        )

    def advance(self, now_ms: int) -> list[Action]:
        """The actions that are due now."""
        return self._advance_stop(now_ms) if self.stopping else self._advance_start(now_ms)

    def answered(self, name: str, now_ms: int) -> list[Action]:
        """The probe of a starting process succeeded."""
        process = self.processes[name]
        if process.state is not State.STARTING:
            return []  # it ended or was stopped in the meantime
        took_s = (now_ms - process.since_ms) / 1000
        self._move(process, Event.ANSWERED, now_ms)
        return [PrintLine(f"{name} is ready ({took_s:.1f} s)"), *self._settled(now_ms)]

    def exited(self, name: str, status: int, now_ms: int) -> list[Action]:
        """A process ended, on request or by itself."""
        process = self.processes[name]
        if self.stopping and process.state is not State.STOPPING:
            self._move(process, Event.STOP, now_ms)  # it ended before its stage was stopped
        if process.state is State.STOPPING:
            self._move(process, Event.EXITED, now_ms)
            return self._advance_stop(now_ms)
        if process.role.is_task and status == 0:
            self._move(process, Event.COMPLETED, now_ms)
            return self._settled(now_ms)
        if process.is_restarting:
            process.is_restarting, process.failures, process.due_at_ms = False, 0, now_ms
            self._move(process, Event.EXITED, now_ms)
            return self._advance_start(now_ms)
        is_stable = process.state is State.READY and now_ms - process.since_ms >= STABLE_AFTER_MS
        process.failures = 1 if is_stable else process.failures + 1
        self._move(process, Event.EXITED, now_ms)
        delay_ms = backoff_ms(process.failures)
        process.due_at_ms = now_ms + delay_ms
        return [PrintLine(f"{name} {describe_exit(status)}; restarting in {delay_ms / 1000:g} s")]

    def restart(self, name: str, why: str) -> list[Action]:
        """End a process that is ready, and start it again; asked again, kill it."""
        process = self.processes[name]
        if self.stopping or process.state is not State.READY:
            return []
        if process.is_restarting:
            return [PrintLine(f"{name} did not stop in time; killing it"), Kill(name)]
        process.is_restarting = True
        return [PrintLine(f"{name} {why}; restarting it"), Terminate(name)]

    def stop(self, now_ms: int) -> list[Action]:
        """Stop all processes, stage by stage. A second request, a second or more later, kills them.

        One Ctrl-C can arrive twice: from the terminal and from make.
        """
        if self.stopping:
            if now_ms - self._stop_requested_ms < SAME_REQUEST_MS:
                return []
            running = [name for name, p in self.processes.items() if p.state in RUNNING]
            return [Kill(name) for name in running]
        self.stopping = True
        self._stop_requested_ms = now_ms
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
                process.slow_reported = True
                waited_s = (now_ms - process.since_ms) // 1000
                actions.append(PrintLine(f"{name} does not answer yet ({waited_s} s)"))
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
                actions += [PrintLine(f"{name} did not stop in time; killing it"), Kill(name)]
        return actions

    def _is_due(self, process: Process, now_ms: int) -> bool:
        if process.state is State.WAITING:
            return all(self.processes[other].state in SETTLED for other in process.role.after)
        return process.state is State.BACKOFF and now_ms >= process.due_at_ms

    @staticmethod
    def _is_slow(process: Process, now_ms: int) -> bool:
        return not process.slow_reported and now_ms - process.since_ms >= SLOW_AFTER_MS

    def _settled(self, now_ms: int) -> list[Action]:
        """A process became ready or done: start those that waited for it."""
        actions = self._advance_start(now_ms) if not self.stopping else []
        if self.is_ready and not self._announced:
            self._announced = True
            actions.append(AnnounceReady())
        return actions

    @staticmethod
    def _move(process: Process, event: Event, now_ms: int) -> None:
        process.state = TRANSITIONS[process.state, event]
        process.since_ms = now_ms
        process.slow_reported = False

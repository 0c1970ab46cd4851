"""Which operating-system processes belong to a stack, and how to end them all.

Every process of a stack leads a session of its own (`setsid`), which its children cannot leave by
changing their process group; a child that makes a session of its own still carries the variable
AERIE_STACK. Both together find grandchildren too: workers of Celery, Python workers of Spark.
"""

import os
import signal
import time
from collections.abc import Callable, Collection

import psutil

MARK = "AERIE_STACK"
_POLL_S = 0.05


def session_members(leader: int) -> list[int]:
    """The live processes of the session that `leader` (a process id) leads or led."""
    return [pid for pid in psutil.pids() if _session_of(pid) == leader and _is_alive(pid)]


def stack_members(stack_id: str, leaders: Collection[int]) -> list[int]:
    """The live processes of a stack: by session, or by the mark in their environment."""
    own = os.getpid()
    found = []
    for pid in psutil.pids():
        if pid == own or not _is_alive(pid):
            continue
        if _session_of(pid) in leaders or _mark_of(pid) == stack_id:
            found.append(pid)
    return found


def end_stack(
    stack_id: str, leaders: Collection[int], grace_s: float, stores: Collection[int] = ()
) -> int:
    """End every process of a stack: SIGTERM, then SIGKILL after the grace; returns how many.

    The sessions of `stores` (of `leaders`) come last: a broker that can still tell ZooKeeper that
    it goes need not be waited for at the next start until its session has run out.
    """
    members = stack_members(stack_id, leaders)
    _end(lambda: _not_of(stores, stack_members(stack_id, leaders)), grace_s)
    _end(lambda: stack_members(stack_id, leaders), grace_s)
    return len(members)


def _not_of(sessions: Collection[int], pids: Collection[int]) -> list[int]:
    return [pid for pid in pids if _session_of(pid) not in sessions]


def _end(members: Callable[[], Collection[int]], grace_s: float) -> None:
    send(members(), signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while left := members():
        if time.monotonic() > deadline:
            send(left, signal.SIGKILL)
            deadline = time.monotonic() + grace_s
        time.sleep(_POLL_S)


def send(pids: Collection[int], signal_number: signal.Signals) -> None:
    """Signal each process; one that is gone already is no mistake."""
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except (ProcessLookupError, PermissionError):
            continue


def start_time(pid: int) -> float | None:
    """When the process began (seconds since the epoch), which tells a reused id apart."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _mark_of(pid: int) -> str | None:
    try:
        mark: str | None = psutil.Process(pid).environ().get(MARK)
    except (psutil.Error, OSError):
        return None
    return mark

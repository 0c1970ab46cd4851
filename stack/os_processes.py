"""Finds the operating-system processes of a stack, and ends them.

Every process of a stack is the leader of a session (`setsid`); its children stay in that session
even if they change their process group. A child that starts a session of its own still has the
environment variable AERIE_STACK. Session and variable together also find grandchildren: Celery's
pool processes and Spark's Python workers.
"""

import os
import signal
import time
from collections.abc import Callable, Collection

import psutil

STACK_ID_VARIABLE = "AERIE_STACK"
_POLL_S = 0.05


def session_members(leader: int) -> list[int]:
    """The live processes of the session with this leader (a process id, live or ended)."""
    return [pid for pid in psutil.pids() if _session_of(pid) == leader and _is_alive(pid)]


def stack_members(stack_id: str, leaders: Collection[int]) -> list[int]:
    """The live processes of a stack: by session, or by the variable in their environment."""
    own = os.getpid()
    members = []
    for pid in psutil.pids():
        if pid == own or not _is_alive(pid):
            continue
        if _session_of(pid) in leaders or _stack_id_of(pid) == stack_id:
            members.append(pid)
    return members


def end_stack(
    stack_id: str, leaders: Collection[int], grace_s: float, stores: Collection[int] = ()
) -> int:
    """End every process of a stack: SIGTERM, then SIGKILL after `grace_s`. Returns their number.

    The sessions of `stores` (some of `leaders`) end last, so that brokers can close their ZooKeeper
    sessions. Otherwise the next start would wait until those sessions expire.
    """
    members = stack_members(stack_id, leaders)
    _end(lambda: _outside_sessions(stores, stack_members(stack_id, leaders)), grace_s)
    _end(lambda: stack_members(stack_id, leaders), grace_s)
    return len(members)


def _outside_sessions(sessions: Collection[int], pids: Collection[int]) -> list[int]:
    return [pid for pid in pids if _session_of(pid) not in sessions]


def _end(members: Callable[[], Collection[int]], grace_s: float) -> None:
    send_signal(members(), signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while left := members():
        if time.monotonic() > deadline:
            send_signal(left, signal.SIGKILL)
            deadline = time.monotonic() + grace_s
        time.sleep(_POLL_S)


def send_signal(pids: Collection[int], signal_number: signal.Signals) -> None:
    """Signal each process; ignores processes that have ended."""
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except (ProcessLookupError, PermissionError):
            continue


def start_time(pid: int) -> float | None:
    """When the process started (seconds since the epoch). Detects a reused process id."""
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


def _stack_id_of(pid: int) -> str | None:
    try:
        stack_id: str | None = psutil.Process(pid).environ().get(STACK_ID_VARIABLE)
    except (psutil.Error, OSError):
        return None
    return stack_id

"""How threads that work aside are scheduled, asked of the system."""

import ctypes
import os
import platform
from concurrent.futures import ThreadPoolExecutor

import pytest

from brokerd import cpu_scheduling

SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}


def test_who_works_aside_runs_as_a_batch_and_the_event_loop_does_not() -> None:
    with ThreadPoolExecutor(1, initializer=cpu_scheduling.yield_to_event_loop) as threads:
        aside = threads.submit(os.sched_getscheduler, 0).result()
    assert (aside, os.sched_getscheduler(0)) == (os.SCHED_BATCH, os.SCHED_OTHER)


@pytest.mark.skipif(platform.machine() not in SCHED_GETATTR, reason="the call has another number")
def test_it_has_a_long_slice_and_is_as_nice_as_before() -> None:
    def attributes() -> tuple[int, int]:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)  # on Linux that of this thread alone
        cpu_scheduling.yield_to_event_loop()
        found = cpu_scheduling.Attributes()
        call = SCHED_GETATTR[platform.machine()]
        assert not ctypes.CDLL(None).syscall(call, 0, ctypes.byref(found), ctypes.sizeof(found), 0)
        return found.nice, found.runtime

    niceness = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)
    with ThreadPoolExecutor(1) as threads:
        nice, slice_ns = threads.submit(attributes).result()
    assert nice == niceness
    assert slice_ns in (cpu_scheduling.SLICE_NS, 0)  # 0 before Linux 6.12


def test_where_the_system_call_is_not_known_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    with ThreadPoolExecutor(1, initializer=cpu_scheduling.yield_to_event_loop) as threads:
        assert threads.submit(os.sched_getscheduler, 0).result() == os.SCHED_OTHER

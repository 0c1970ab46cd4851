"""Background threads and processes yield the processor to the event loop at once.

A thread that wakes up must otherwise wait until the running thread has used its slice, 1 to 3 ms:
too long for the event loop, and for a client that got its reply. A background thread therefore asks
for a long slice in the class SCHED_BATCH: Linux (6.12 and newer) lets a thread with a shorter slice
preempt it (kernel/sched/fair.c, PREEMPT_SHORT). Its share of the processor stays the same. Under
SCHED_IDLE it might not run for long while it holds the interpreter's lock.
"""

import ctypes
import os
import platform
from typing import Final

SLICE_NS: Final = 20_000_000
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
"""The number of the system call: glibc has no function for it before 2.41."""


class Attributes(ctypes.Structure):
    """struct sched_attr of sched_setattr(2), in its first version."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32), ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64), ("period", ctypes.c_uint64),
    )  # fmt: skip


def yield_to_event_loop() -> None:
    """Makes the calling thread, and the threads and processes that it starts from now on, yield to
    event loops. Nothing changes if the system does not support or does not allow it."""
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None:
        return
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = Attributes(nice=niceness, policy=os.SCHED_BATCH, runtime=SLICE_NS)
    attributes.size = ctypes.sizeof(attributes)
    ctypes.CDLL(None).syscall(number, 0, ctypes.byref(attributes), 0)

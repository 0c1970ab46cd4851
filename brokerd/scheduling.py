"""Threads and processes that let go of a processor as soon as anybody else wants it.

A thread that wakes up must otherwise wait until the running one has used up its slice, 1 to 3 ms:
too long for the event loop, and for a client that was answered. Who works aside therefore asks for
a long slice, and as a batch: Linux (6.12 and newer) lets a thread with a shorter slice cut in
(kernel/sched/fair.c, PREEMPT_SHORT). Its share of the processor stays what it was, unlike that of
SCHED_IDLE, under which it may be kept from running for long, with the interpreter in its hands.
"""

import ctypes
import os
import platform
from typing import Final

SLICE_NS: Final = 20_000_000
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
"""The number of the system call, which the C library has no name for before glibc 2.41."""


class Attributes(ctypes.Structure):
    """struct sched_attr of sched_setattr(2), without what came later."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32), ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64), ("period", ctypes.c_uint64),
    )  # fmt: skip


def work_aside() -> None:
    """Has the calling thread, and what it starts from now on, give way to others.

    Where the system does not know how, or does not allow it, nothing changes.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None:
        return
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = Attributes(nice=niceness, policy=os.SCHED_BATCH, runtime=SLICE_NS)
    attributes.size = ctypes.sizeof(attributes)
    ctypes.CDLL(None).syscall(number, 0, ctypes.byref(attributes), 0)

"""The metrics of the process, with the names that Prometheus' clients give them, and how late its
event loop is.
"""

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from brokerd.metric_counters import BrokerMetrics
from brokerd.server.admin_http.metrics.prometheus_text import MS_PER_S, head, histogram, singles

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    """The open descriptors of this process, maybe tens of thousands: call it in a thread."""
    return len(os.listdir("/proc/self/fd"))


def resident_bytes() -> int:
    """Memory of this process that is in RAM, as Linux counts it (statm)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


def process_lines(started_at_ms: int, files: int) -> Iterator[str]:
    yield from singles(
        "process_",
        ("start_time_seconds", "Since 1970, when it started.", started_at_ms / MS_PER_S),
        ("cpu_seconds_total", "CPU time.", round(time.process_time(), 3)),
        ("resident_memory_bytes", "Resident memory.", resident_bytes()),
        ("open_fds", "Open files and sockets.", files),
        ("max_fds", "How many may be open.", resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
    )


def loop_lag_lines(metrics: BrokerMetrics) -> Iterator[str]:
    yield head("brokerd_loop_lag_seconds", "histogram", "How late the loop runs its timers.")
    yield from histogram("brokerd_loop_lag_seconds", {}, metrics.loop_lag_s)

"""When a process is restarted because it keeps memory that nobody uses.

A JVM never gives back what it loaded and compiled: after a large roll-up Spark has 650 to 800 MB,
after its start 250. A process that has a limit (`Role.memory_max_mb`) is restarted when it is above
it and no client was connected at its port for IDLE_S. Spark's clients are connected as long as a
report, a job of the pipeline or `write_past_history` runs. A process that had no client since its
start is not restarted: it would be as large again.
"""

import psutil

IDLE_S = 300.0  # the first report after a restart takes some seconds more
CHECK_EVERY_S = 15.0


def resident_bytes(pid: int) -> int:
    """The resident memory of a process. Raises psutil.Error."""
    return int(psutil.Process(pid).memory_info().rss)


def has_clients(pid: int, port: int) -> bool:
    """Whether the process has a connection that it accepted at the port. Raises psutil.Error."""
    return any(
        each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port
        for each in psutil.Process(pid).net_connections("tcp")
    )


class IdleTime:
    """For how long a process has been without clients. Pure."""

    def __init__(self) -> None:
        self._used_ms: int | None = None  # None: not since its start

    def is_over(self, now_ms: int, has_clients: bool) -> bool:
        """Whether it had clients, and none for IDLE_S. Call it at each check."""
        if has_clients:
            self._used_ms = now_ms
        return self._used_ms is not None and now_ms - self._used_ms >= IDLE_S * 1000

"""The metrics of kafka.log:type=LogFlushStats and LogManager: flushes, log directories."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from brokerd.log.log_manager import LogManager
from brokerd.metric_counters import BrokerMetrics
from brokerd.server.admin_http.metrics.prometheus_text import (
    MS_PER_S,
    Row,
    family,
    head,
    histogram,
    singles,
)


class DiskSpace(NamedTuple):
    """Disk space as `df` counts it, without what is reserved for root."""

    path: str
    total_bytes: int
    free_bytes: int


def disk_spaces(logs: LogManager) -> Iterator[DiskSpace]:
    for log_dir in logs.dirs.live:
        with suppress(OSError):  # it has failed, and the broker has not noticed yet
            found = os.statvfs(log_dir.path)
            total = found.f_blocks - found.f_bfree + found.f_bavail
            yield DiskSpace(log_dir.path, total * found.f_frsize, found.f_bavail * found.f_frsize)


def log_manager_lines(metrics: BrokerMetrics, logs: LogManager) -> Iterator[str]:
    name = "kafka_log_logflushstats_logflushrateandtimems"
    text = "Milliseconds of flushes: a log's segments and indexes synced."
    yield head(name, "histogram", text)
    yield from histogram(name, {}, metrics.flushes_s, MS_PER_S)
    offline = logs.dirs.offline
    prefix = "kafka_log_logmanager_"
    name = "offlinelogdirectorycount"
    yield from singles(prefix, (name, "Log directories offline.", len(offline)))
    live = [log_dir.path for log_dir in logs.dirs.live]
    rows: list[Row] = [({"logDirectory": path}, int(path in offline)) for path in [*live, *offline]]
    yield from family(prefix + "logdirectoryoffline", "gauge", "1 if it is offline.", rows)
    rows = [({"logDirectory": each.path}, each.free_bytes) for each in disk_spaces(logs)]
    yield from family("brokerd_log_directory_free_bytes", "gauge", "Space left.", rows)

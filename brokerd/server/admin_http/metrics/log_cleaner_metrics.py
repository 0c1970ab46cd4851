"""The metrics of kafka.log:type=LogCleanerManager and LogCleaner."""

from collections.abc import Iterator

from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.server.admin_http.metrics.prometheus_text import MS_PER_S, singles


def log_cleaner_lines(cleaner: LogCleanerManager, started_at_ms: int, now_ms: int) -> Iterator[str]:
    metrics = cleaner.metrics
    since_ms = max(now_ms - (metrics.looked_ms or started_at_ms), 0)
    yield from singles(
        "kafka_log_logcleanermanager_",
        ("max_dirty_percent", "Of the dirtiest log at the last look.",
         int(metrics.dirtiest * 100)),
        ("time_since_last_run_ms", "Since logs to clean were looked for.", since_ms),
        ("uncleanable_partitions_count", "Logs that could not be cleaned.",
         len(cleaner.uncleanable)),
        ("uncleanable_bytes", "What is dirty of them.", cleaner.uncleanable_bytes),
    )  # fmt: skip
    yield from singles(
        "kafka_log_logcleaner_",
        ("cleaner_recopy_percent", "What stayed of the last log cleaned.",
         int(metrics.round_kept * 100)),
        ("max_buffer_utilization_percent", "How full its map of keys was.",
         int(metrics.round_map_used * 100)),
        ("max_clean_time_secs", "How long it took.", metrics.round_ms // MS_PER_S),
        ("max_compaction_delay_secs", "By how much max.compaction.lag.ms was passed.",
         metrics.round_late_ms // MS_PER_S),
        ("deadthreadcount", "Workers never stay dead: they are started anew.", 0),
    )  # fmt: skip
    yield from singles(
        "brokerd_log_cleaner_",
        ("rounds_total", "Cleanings of compacted logs.", metrics.rounds),
        ("read_bytes_total", "Bytes read to clean logs.", metrics.read_bytes),
        ("written_bytes_total", "Bytes that stayed of them.", metrics.written_bytes),
        ("worker_deaths_total", "Worker processes that ended before their job.",
         metrics.worker_deaths),
        ("cleaning", "Logs being cleaned now.", cleaner.busy),
        ("waiting_partitions",
         "Logs that an open transaction keeps from being cleaned further.", len(cleaner.held)),
    )  # fmt: skip

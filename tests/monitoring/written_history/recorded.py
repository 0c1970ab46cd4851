"""Ticks of hours that were recorded: steady traffic, one idle topic."""

from collections.abc import Iterator

from monitoring.history.levels import HOUR_MS
from monitoring.ticks.tick import Tick
from tests.monitoring.tick_factory import make_tick

STEP_MS = 60_000


def hour_ticks(start_ms: int, hours: int = 1, appears_at: int | None = None) -> Iterator[Tick]:
    """A tick a minute; `appears_at`: the number of the tick with which a topic appears."""
    for number in range(hours * HOUR_MS // STEP_MS):
        ends = {
            ("busy", 0): number * 10,
            ("busy", 1): number // 7 * 5 + number * 3,
            ("idle", 0): 40,
        }
        if appears_at is not None and number >= appears_at:
            ends["new", 0] = 5
        rows = [
            {"topic": topic, "topic_id": topic, "partition": partition, "leader": 1,
             "log_start_offset": 0, "log_end_offset": end, "size_bytes": end * 100}
            for (topic, partition), end in ends.items()
        ]  # fmt: skip
        groups = [
            {"group": "g", "topic": topic, "partition": partition,
             "committed_offset": max(end - number % 9, 0), "log_end_offset": end}
            for (topic, partition), end in ends.items()
            if topic != "new"
        ]  # fmt: skip
        broker = {"id": 1, "up": True, "cpu_seconds": number * 1.5, "bytes_in": number * 999}
        broker["log_dirs"] = [
            {"path": "/d", "total_bytes": 9, "free_bytes": 9 - number % 3, "size_bytes": None}
        ]
        yield make_tick(
            start_ms // STEP_MS + number,
            interval_ms=STEP_MS,
            partitions=rows,
            groups=groups,
            brokers=[broker],
        )

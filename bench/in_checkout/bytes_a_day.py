"""Run in a checkout: the bytes of a day of history at each level, of the synthetic cluster.

    python bench/in_checkout/bytes_a_day.py FOLDER TOPICS BUSY_PARTITIONS    → JSON, bytes by level

Samples of two hours are written by the checkout's own code, a file a minute, then rolled up and
merged by Spark as the pipeline does. The first hour of a day has a row of each key in the hour
level. So a day is 24 times the second hour's merged raw ticks and its minutes; of the hour level
the first hour and 23 times the second; and the day level's rows.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.fs as pafs
from django.conf import settings
from feed import TICKS_A_FILE, TOOK_MS, _table
from names import find
from synthetic import SLUG, Columns, Synthetic

INTERVAL_MS = 5000
HOUR_MS, DAY_MS = 3_600_000, 24 * 3_600_000
FIRST_MS = 20_000 * DAY_MS


class Quiet(Synthetic):
    """The synthetic cluster in which so many partitions are busy and the others are idle.

    Of a busy partition everything changes in each tick; of a broker CPU, memory, requests, disk.
    """

    def __init__(self, topic_count: int, busy: int) -> None:
        super().__init__(topic_count)
        count = int(self.partition_counts.sum())
        dice = np.random.default_rng(count)
        is_busy = np.zeros(count, dtype=bool)
        is_busy[:busy] = True
        self.__dict__["rates"] = np.where(is_busy, dice.exponential(200, count) + 1, 0)

    def _grown(self, tick: int) -> np.ndarray:
        """Records since the first tick, unevenly."""
        number = tick - FIRST_MS // INTERVAL_MS
        noise = np.random.default_rng(tick).random(len(self.__dict__["rates"]))
        rates: np.ndarray = self.__dict__["rates"]
        return (rates * (number + noise)).astype(np.int64)

    def partitions(self, tick: int) -> Columns:
        ends = 10**7 + self._grown(tick)
        size = ends * 100
        changed = {"log_start_offset": ends * 0, "log_end_offset": ends, "size_bytes": size,
                   "replicas_size_bytes": size * 3, "bytes_in": ends * 103,
                   "bytes_out": ends * 251, "messages_in": ends}  # fmt: skip
        return super().partitions(1) | changed

    def group_rows(self, tick: int) -> Columns:
        row = self._of_group_row["row"]
        ends = 10**7 + self._grown(tick)[row]
        is_busy = self.__dict__["rates"][row] > 0
        noise = np.random.default_rng(tick + 1).integers(0, 2000, len(row))
        lag = np.where(is_busy, noise, self._of_group_row["lag"])
        changed = {"committed_offset": ends - lag, "log_end_offset": ends}
        return super().group_rows(1) | changed

    def brokers(self, tick: int) -> list[dict[str, Any]]:
        dice = np.random.default_rng(tick + 2)
        found = []
        for broker in super().brokers(1):
            total = int(self._grown(tick).sum())
            disks = [
                {"path": f"/disk-{n}", "total_bytes": 1 << 40, "size_bytes": total,
                 "free_bytes": (1 << 39) - total - int(dice.integers(0, 5)) * 4096}
                for n in range(2)
            ]  # fmt: skip
            changed = {"bytes_in": total * 9, "bytes_out": total * 21, "requests": tick * 40,
                       "cpu_seconds": round(tick / 8 + float(dice.random()) / 20, 3),
                       "rss_bytes": (1 << 30) + int(dice.integers(0, 50)) * 4096,
                       "connections": 900, "log_dirs": disks}  # fmt: skip
            found.append(broker | changed)
        return found


def ticks(cluster: Quiet, first_ms: int, end_ms: int, slug: str = SLUG) -> Iterator[Any]:
    from monitoring.ticks import schema
    from monitoring.ticks.tick import Tick

    for number in range(first_ms // INTERVAL_MS, end_ms // INTERVAL_MS):
        common = {"cluster": slug, "tick": number, "at_ms": number * INTERVAL_MS + TOOK_MS}
        yield Tick(
            **common,
            interval_ms=INTERVAL_MS,
            brokers=cluster.brokers(number),
            controller_id=1,
            partitions=_table(schema.PARTITIONS, common, cluster.partitions(number)),
            groups=_table(schema.GROUPS, common, cluster.group_rows(number)),
        )


def write_hours(
    root: Any, cluster: Quiet, first_ms: int = FIRST_MS, count: int = 2, slug: str = SLUG
) -> None:
    """The raw ticks of these hours, a file a minute; the tick before them is not counted."""
    append = find("append_history")
    minute_ms = TICKS_A_FILE * INTERVAL_MS
    append(root, slug, ticks(cluster, first_ms - INTERVAL_MS, first_ms, slug))
    for start_ms in range(first_ms, first_ms + count * HOUR_MS, minute_ms):
        append(root, slug, ticks(cluster, start_ms, start_ms + minute_ms, slug))


def roll_up(root: Any, folder: Path) -> None:
    """As the pipeline: both hours, the raw files of each merged, and the day."""
    from bench.roll_up import spark_server
    from monitoring.history.levels import DAY, HOUR, MINUTE, RAW
    from monitoring.pipeline import workspace
    from monitoring.pipeline.due_jobs import MergeJob, RollUpJob

    todo: list[Any] = []
    for hour_ms in (FIRST_MS, FIRST_MS + HOUR_MS):
        todo.append(RollUpJob(hour_ms, (MINUTE, HOUR)))
        span_folder = find("SpanFolder")(SLUG, RAW, RAW.span_of(hour_ms))
        todo.append(MergeJob(span_folder, hour_ms, hour_ms + HOUR_MS))
    todo.append(RollUpJob(FIRST_MS, (DAY,)))
    with spark_server(folder) as (spark, _process):
        for job in todo:
            with workspace.opened(root, SLUG) as space:
                find("run_pipeline_job")(spark, space, job)


def bytes_by_level(root: Any) -> dict[str, dict[str, int]]:
    """Level → table → bytes of a day."""
    from monitoring.history import manifest
    from monitoring.history.levels import DAY, HOUR, LEVELS

    found: dict[str, dict[str, int]] = {level.name: {} for level in LEVELS}
    for level in LEVELS:
        for span_folder in find("span_folders")(root, SLUG, level):
            for file in manifest.load(root, span_folder).files:
                is_first = file.min_at_ms < FIRST_MS + HOUR_MS
                if file.min_at_ms < FIRST_MS:
                    continue
                times = 1 if level is DAY or (level is HOUR and is_first) else 24 - (level is HOUR)
                if is_first and level not in (DAY, HOUR):
                    continue
                of_level = found[level.name]
                of_level[file.table] = of_level.get(file.table, 0) + times * file.bytes
    return found


def main() -> None:
    """See the module."""
    folder, topics, busy = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    settings.configure(AERIE_TICK_SECONDS=INTERVAL_MS // 1000)
    from monitoring.history.root_folder import Root

    root = Root(pafs.LocalFileSystem(), str(folder / "history"), f"file://{folder}/history")
    write_hours(root, Quiet(topics, busy))
    roll_up(root, folder)
    print(json.dumps(bytes_by_level(root)))


if __name__ == "__main__":
    main()

"""Raw ticks of a few hours, and what the levels have of them, row by row."""

import random

from monitoring.history import append_ticks, read_levels
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, MINUTE, RAW
from monitoring.history.parquet_files import read_file
from monitoring.history.root_folder import Root
from monitoring.history.table_specs import TABLES, TICKS, schema_of
from monitoring.ticks.tick import Tick
from tests.monitoring.tick_factory import make_tick

START_MS = 20_000 * DAY_MS  # the start of a day
STEP_MS = 60_000 * 5


def ticks(
    seed: int,
    hours: int,
    start_ms: int = START_MS,
    *,
    has_topics: bool = True,
    has_groups: bool = True,
) -> list[Tick]:
    """A tick every five minutes: two topics, a group, and a gap now and then.

    Without topics only the cluster has rows, so that a job is one action of Spark a level.
    """
    chance = random.Random(seed)
    ends = {("a", 0): 10, ("a", 1): 5, ("b", 0): 0} if has_topics else {}
    commits = dict.fromkeys(ends, 0)
    found = []
    for number in range(start_ms // STEP_MS, (start_ms + hours * HOUR_MS) // STEP_MS):
        if chance.random() < 0.1:
            found.append(gap(number * STEP_MS))
            continue
        for key, end in ends.items():
            ends[key] = end + chance.choice((0, 0, chance.randrange(1000)))
            commits[key] = chance.randrange(commits[key], ends[key] + 1)
        rows = [
            {"topic": topic, "partition": partition, "leader": 1, "log_start_offset": 0,
             "log_end_offset": end}
            for (topic, partition), end in ends.items()
        ]  # fmt: skip
        groups = [
            {"group": "g", "topic": topic, "partition": partition, "committed_offset": commit,
             "log_end_offset": ends[topic, partition]}
            for (topic, partition), commit in commits.items()
            if has_groups
        ]  # fmt: skip
        found.append(make_tick(number, partitions=rows, groups=groups, interval_ms=STEP_MS))
    return found


def gap(start_ms: int) -> Tick:
    """The tick of an interval in which nothing was sampled."""
    why = {"status": "gap", "reason": "no broker answered", "interval_ms": STEP_MS}
    return Tick(cluster="local", tick=start_ms // STEP_MS, at_ms=start_ms + 40, **why)


def write(root: Root, made: list[Tick]) -> None:
    append_ticks.append(root, "local", made)


def rows_of_levels(root: Root) -> dict[str, list[str]]:
    """Every row of minutes, hours and days, as sorted text."""
    found = {}
    for level in (MINUTE, HOUR, DAY):
        for table in (TICKS, *TABLES):
            schema = schema_of(table, is_raw=False)
            rows = []
            for span_folder, file in read_levels.files(root, "local", level, table, 0, 2**60):
                read = read_file(root, root.path(*span_folder.folder, file.name), schema)
                rows += map(repr, read.to_pylist())
            found[f"{level.name} {table}"] = sorted(rows)
    return found


def raw_rows(root: Root, table: str) -> list[str]:
    schema = schema_of(table, is_raw=True)
    return sorted(
        repr(row)
        for span_folder, file in read_levels.files(root, "local", RAW, table, 0, 2**60)
        for row in read_file(root, root.path(*span_folder.folder, file.name), schema).to_pylist()
    )

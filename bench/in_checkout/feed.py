"""Run in a checkout: samples of the synthetic cluster, written as its own workers write them.

    python bench/in_checkout/feed.py TOPICS HISTORY_MINUTES     in the checkout's environment

First the history of the last minutes (groups only: charts of topics are no part of the bench) and
the newest minute of the live window, then "ready"; from there on a tick at each interval, judged
and announced, and each minute what is new into the history. For each tick a line:
"tick NUMBER MILLISECONDS", when it was announced.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import django
import numpy as np
import pyarrow as pa
from names import OLDER_COLUMNS, find
from synthetic import SLUG, Columns, Synthetic

TICKS_A_FILE = 12
LIVE_TICKS = 12
TOOK_MS = 300


class Feed:
    """The checkout's own functions, and what they are given."""

    def __init__(self, cluster: Synthetic, interval_ms: int) -> None:
        self._cluster, self._interval_ms = cluster, interval_ms
        self._make, self._put, self._notify = find("Tick"), find("put_tick"), find("notify")
        self._partitions, self._groups = find("PARTITIONS"), find("GROUPS")
        self._evaluate, self._root = find("evaluate"), find("history_root")
        self._append, self._flush = find("append_history"), find("flush_history")

    def write_history(self, first: int, end: int) -> None:
        """The groups of these ticks, in files of a minute."""
        for start in range(first, end, TICKS_A_FILE):
            ticks = [
                self._tick(number, with_partitions=False)
                for number in range(start, min(start + TICKS_A_FILE, end))
            ]
            self._append(self._root(), SLUG, ticks)

    def put(self, number: int, *, announced: bool = True) -> None:
        """One tick into Redis; announced and judged, as the sampling worker does."""
        tick = self._tick(number)
        self._put(tick)
        if not announced:
            return
        self._notify(f"tick.{SLUG}", "tick", tick)
        print(f"tick {number} {time.time() * 1000:.0f}", flush=True)
        if self._evaluate(tick):
            self._notify(f"alerts.{SLUG}", "alerts", tick)

    def flush(self) -> None:
        """What is new into the history, as the history worker does each minute."""
        self._flush(self._root(), SLUG)

    def _tick(self, number: int, *, with_partitions: bool = True) -> Any:
        cluster = self._cluster
        common = {"cluster": SLUG, "tick": number, "at_ms": number * self._interval_ms + TOOK_MS}
        tables = {"groups": _table(self._groups, common, cluster.group_rows(number))}
        if with_partitions:
            tables["partitions"] = _table(self._partitions, common, cluster.partitions(number))
        return self._make(
            **common,
            interval_ms=self._interval_ms,
            took_ms=TOOK_MS,
            controller_id=1,
            cluster_id="bench",
            brokers=cluster.brokers(number),
            **tables,
        )


def _table(schema: pa.Schema, common: dict[str, Any], columns: Columns) -> pa.Table:
    """The columns in the checkout's schema; one that only the schema has is null.

    Raises LookupError for a column that the schema does not have: pages would be emptier.
    """
    columns = {
        name if name in schema.names else OLDER_COLUMNS.get(name, name): values
        for name, values in columns.items()
    }
    if unknown := set(columns) - set(schema.names):
        raise LookupError(f"this checkout's samples have no column {', '.join(sorted(unknown))}")
    count = len(columns["partition"])
    arrays = {name: _array(values) for name, values in columns.items()}
    cluster = ([common["cluster"]], np.zeros(count, np.int64))
    arrays |= {"cluster": _array(cluster)}
    arrays |= {name: pa.array(np.full(count, common[name])) for name in ("tick", "at_ms")}
    found = [
        arrays[field.name].cast(field.type) if field.name in arrays else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.table(found, schema=schema)


def _array(values: Any) -> pa.Array:
    """Of an array; of names and indices (−1 is null); or of all values and how many a row has."""
    if not isinstance(values, tuple):
        return pa.array(values)
    first, second = values
    if isinstance(first, list):
        keys = pa.array(second.astype(np.int32), mask=second < 0)
        return pa.DictionaryArray.from_arrays(keys, pa.array(first, pa.string()))
    offsets = np.concatenate([[0], np.cumsum(second)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(first))


def _ticks(interval_ms: int) -> Iterator[int]:
    """The number of each tick as it begins; one that was missed is left out, as beat does."""
    while True:
        number = time.time_ns() // 1_000_000 // interval_ms + 1
        time.sleep(max(0.0, number * interval_ms / 1000 - time.time()))
        yield number


def main() -> None:
    """See the module."""
    topics, minutes = int(sys.argv[1]), int(sys.argv[2])
    django.setup()
    from django.conf import settings

    interval_ms = int(settings.AERIE_TICK_SECONDS) * 1000
    feed = Feed(Synthetic(topics), interval_ms)
    begin = time.time_ns() // 1_000_000 // interval_ms - LIVE_TICKS
    feed.write_history(begin - minutes * 60_000 // interval_ms, begin)
    for number in range(begin, time.time_ns() // 1_000_000 // interval_ms):
        feed.put(number, announced=False)
    feed.flush()
    print("ready", flush=True)
    for number in _ticks(interval_ms):
        feed.put(number)
        if number % (60_000 // interval_ms) == 0:
            feed.flush()


if __name__ == "__main__":
    main()

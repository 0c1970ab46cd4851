"""The values of a subject over time: one question for every chart.

The newest ticks come from the live window, all else from the files of the level that fits the
length of a point (points.py), of a finer one where that level has nothing yet, or of a coarser one
where all finer ones have expired. Spark is never asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history import dense, live_rows, points, reader, table_specs
from monitoring.history.cover import Part
from monitoring.history.dense import Buckets, Values
from monitoring.history.levels import RAW
from monitoring.history.points import Points
from monitoring.history.root import Root, current
from monitoring.history.table_specs import Table
from monitoring.history.writer import flushed_until_ms
from monitoring.ticks import tick_stream

COMPARE_MS = {"yesterday": 24 * 3_600_000, "week": 7 * 24 * 3_600_000}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a chart is about: one key of one table."""

    table: Table
    key: tuple[str | int, ...] = ()

    @classmethod
    def cluster(cls) -> Subject:
        return cls(table_specs.CLUSTER)

    @classmethod
    def topic(cls, topic: str, partition: int | None = None) -> Subject:
        if partition is None:
            return cls(table_specs.TOPICS, (topic,))
        return cls(table_specs.PARTITIONS, (topic, partition))

    @classmethod
    def group(cls, group: str, topic: str | None = None, partition: int | None = None) -> Subject:
        if topic is None:
            return cls(table_specs.GROUPS, (group,))
        if partition is None:
            return cls(table_specs.GROUP_TOPICS, (group, topic))
        return cls(table_specs.GROUP_PARTITIONS, (group, topic, partition))

    @classmethod
    def broker(cls, broker: int) -> Subject:
        return cls(table_specs.BROKERS, (broker,))

    @property
    def key_columns(self) -> dict[str, str | int]:
        return dict(zip(self.table.keys, self.key, strict=True))


@dataclass(frozen=True, slots=True)
class Gap:
    """Time without samples, with its reason (monitoring/reasons.py)."""

    from_ms: int
    to_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class Series:
    """The points of each measure, and the gaps in their time."""

    measures: dict[str, Points]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The time of a chart, `[from_ms, to_ms)`, and the length of a point.

    An open range has the newest tick, too, if the sampler's clock is ahead of ours.
    """

    from_ms: int
    to_ms: int
    step_ms: int
    is_open: bool = False

    @classmethod
    def until(cls, now_ms: int, range_ms: int, points_max: int) -> Range:
        """The last `range_ms`, in at most `points_max` points. Raises ValueError."""
        step_ms = points.step_for(range_ms, points_max, tick_stream.interval_ms())
        return cls(now_ms - range_ms, now_ms, step_ms, is_open=True)

    def earlier(self, by_ms: int) -> Range:
        """The same range `by_ms` before."""
        from_ms, to_ms = self.from_ms - by_ms, self.to_ms - by_ms
        return replace(self, from_ms=from_ms, to_ms=to_ms, is_open=False)


def read(slug: str, subject: Subject, measures: Sequence[str], over: Range) -> Series:
    """The values of gauges or counters of the subject's table.

    Raises KeyError for an unknown measure, OSError if the history is not available. Without Redis
    the series ends where the files end.
    """
    unknown = set(measures) - {*subject.table.gauges, *subject.table.counters}
    if unknown:
        raise KeyError(f"{subject.table.name} has no measure {', '.join(sorted(unknown))}")
    root = current()
    stored_ms = flushed_until_ms(root, slug)
    level = points.level_for(over.step_ms)
    first_ms = over.from_ms - over.from_ms % over.step_ms
    read_parts = [
        _stored(root, slug, subject, measures, part, over.step_ms)
        for part in reader.parts_or_coarser(
            root, slug, first_ms, min(over.to_ms, stored_ms + 1), level
        )
    ]
    if over.to_ms > stored_ms:
        read_parts.append(_live(slug, subject, measures, max(stored_ms + 1, first_ms)))
    to_ms = over.to_ms
    if over.is_open and read_parts and len(times := read_parts[-1].buckets.at_ms):
        to_ms = max(to_ms, int(times[-1]) + 1)
    joined = {
        name: points.join(
            [(part.buckets, part.values[name]) for part in read_parts],
            over.from_ms,
            to_ms,
            over.step_ms,
            rate=name in subject.table.counters,
        )
        for name in measures
    }
    gaps = tuple(gap for part in read_parts for gap in part.gaps)
    return Series(joined, _joined_gaps(gaps))


@dataclass(frozen=True, slots=True)
class _Read:
    """The values of one part of the range."""

    buckets: Buckets
    values: dict[str, Values]
    gaps: tuple[Gap, ...]


def _values(
    rows: pa.Table, table: Table, measures: Iterable[str], buckets: Buckets
) -> dict[str, Values]:
    return {
        name: dense.rate(rows, table, name, buckets)
        if name in table.counters
        else dense.gauge(rows, name, buckets)
        for name in measures
    }


def _stored(
    root: Root, slug: str, subject: Subject, measures: Sequence[str], part: Part, step_ms: int
) -> _Read:
    """A part from files. Rows count from the start of a portion, where each key has one."""
    level, table = part.level, subject.table
    start_ms = part.from_ms - part.from_ms % level.portion_ms
    ticks = reader.ticks(root, slug, level, start_ms, part.to_ms)
    is_raw = level is RAW
    buckets = Buckets.of_ticks(ticks) if is_raw else Buckets.of_level(ticks)
    columns = _columns(table, measures, is_raw=is_raw)
    rows = reader.rows(root, slug, level, table, start_ms, part.to_ms, columns, subject.key_columns)
    values = _values(rows, table, measures, buckets)
    if level.bucket_ms > step_ms:
        buckets, values = dense.spread(buckets, values, level.bucket_ms, step_ms)
    inside = (buckets.at_ms >= part.from_ms) & (buckets.at_ms < part.to_ms)
    kept = Buckets(*(getattr(buckets, n)[inside] for n in Buckets.__slots__))
    cut = {
        name: Values(*(getattr(of, n)[inside] for n in Values.__slots__))
        for name, of in values.items()
    }
    return _Read(
        kept, cut, tuple(_gaps(ticks.filter(pc.field("at_ms") >= part.from_ms), level.bucket_ms))
    )


def _columns(table: Table, measures: Sequence[str], *, is_raw: bool) -> list[str]:
    found = ["at_ms", "state_before", "state"] + (["rated"] if is_raw else [])
    for name in measures:
        if name in table.counters:
            found += [name] if is_raw else table_specs.counter_columns(name)
        else:
            found += [f"{name}_before", name] if is_raw else table_specs.gauge_columns(name)
    return found


def _live(slug: str, subject: Subject, measures: Sequence[str], from_ms: int) -> _Read:
    """The ticks of the live window from `from_ms` on."""
    table = subject.table
    found, stored = live_rows.since(slug, table, subject.key_columns, from_ms)
    buckets = Buckets.of_ticks(found)
    return _Read(buckets, _values(stored, table, measures, buckets), tuple(_gaps(found, 0)))


def _gaps(ticks: pa.Table, bucket_ms: int) -> Iterable[Gap]:
    for row in ticks.to_pylist():
        if row.get("status") == "gap":
            yield Gap(row["at_ms"], row["at_ms"] + row["interval_ms"], row["reason"])
        elif row.get("samples") == 0:
            yield Gap(row["at_ms"], row["at_ms"] + bucket_ms, row["reason"])


def _joined_gaps(gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """Neighbours with the same reason become one."""
    found: list[Gap] = []
    for gap in gaps:
        if found and found[-1].reason == gap.reason and gap.from_ms <= found[-1].to_ms:
            found[-1] = replace(found[-1], to_ms=gap.to_ms)
        else:
            found.append(gap)
    return tuple(found)


def names(
    slug: str, table: Table, column: str, key: Mapping[str, str | int], over: Range
) -> list[str]:
    """The different names of a key column in the range, for example the topics of a group."""
    root = current()
    found: set[str] = set()
    level = points.level_for(over.step_ms)
    for part in reader.parts_or_coarser(root, slug, over.from_ms, over.to_ms, level):
        start_ms = part.from_ms - part.from_ms % part.level.portion_ms
        rows = reader.rows(root, slug, part.level, table, start_ms, part.to_ms, [column], key)
        found.update(rows[column].unique().to_pylist())
    return sorted(found)

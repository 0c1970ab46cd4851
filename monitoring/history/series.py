"""The values of a topic, group, broker or cluster over time, for charts.

The newest ticks come from the live window, all else from the files of the level that fits the
length of a point (points.py), of a finer one where that level has nothing yet, or of a coarser one
where all finer ones have expired. Spark is never asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history import (
    bucket_values,
    live_rows,
    parquet_rows_by_key,
    points,
    read_levels,
    table_specs,
)
from monitoring.history.append_ticks import flushed_until_ms
from monitoring.history.bucket_values import Buckets, BucketValues
from monitoring.history.level_choice import LevelRange
from monitoring.history.levels import RAW
from monitoring.history.points import Points
from monitoring.history.root_folder import Root, current
from monitoring.history.table_specs import UNANSWERED_MS, Table
from monitoring.ticks import tick_stream


@dataclass(frozen=True, slots=True)
class Subject:
    """The topic, group, broker or cluster of a chart: one key of one table."""

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
    """Time without samples, with its reason (monitoring/error_reason.py)."""

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
    """The values of measures of the subject's table (`Table.measures`).

    Raises KeyError for an unknown measure, OSError if the history is not available. Without Redis
    the series ends where the files end.
    """
    [found] = read_all(slug, [subject], measures, over)
    return found


def read_all(
    slug: str, subjects: Sequence[Subject], measures: Sequence[str], over: Range
) -> list[Series]:
    """As `read`, for several subjects of one table.

    Those of one topic or group are read at once.
    """
    if not subjects:
        return []
    table = subjects[0].table
    if unknown := set(measures).difference(table.measures):
        raise KeyError(f"{table.name} has no measure {', '.join(sorted(unknown))}")
    root = current()
    stored_ms = flushed_until_ms(root, slug)
    level = points.level_for(over.step_ms)
    first_ms = over.from_ms - over.from_ms % over.step_ms
    parts = read_levels.parts_or_coarser(
        root, slug, first_ms, min(over.to_ms, stored_ms + 1), level
    )
    read_parts = [_stored(root, slug, subjects, measures, part, over.step_ms) for part in parts]
    if over.to_ms > stored_ms:
        live_ms = max(stored_ms + 1, first_ms)
        read_parts.append([_live(slug, subject, measures, live_ms) for subject in subjects])
    # Before the first sample there is no part: its range has gaps only.
    to_ms = _end_ms(read_parts[-1], over) if read_parts else over.to_ms
    parts_by_subject = zip(*read_parts, strict=True) if read_parts else [()] * len(subjects)
    return [_joined(list(parts), table, measures, over, to_ms) for parts in parts_by_subject]


def _end_ms(last_parts: Sequence[_ValuesOfPart], over: Range) -> int:
    """The end of the points of all subjects. An open range ends with the newest tick; one that came
    between the reads of two subjects is left out, since their points are added up."""
    times = [part.buckets.at_ms for part in last_parts]
    if not over.is_open or not all(map(len, times)):
        return over.to_ms
    return max(over.to_ms, min(int(each[-1]) for each in times) + 1)


def _joined(
    parts: list[_ValuesOfPart], table: Table, measures: Sequence[str], over: Range, to_ms: int
) -> Series:
    joined = {
        name: points.join(
            [(part.buckets, part.values[name]) for part in parts],
            over.from_ms,
            to_ms,
            over.step_ms,
            rate=name in table.counters,
            is_amount=name == UNANSWERED_MS,
        )
        for name in measures
    }
    return Series(joined, _joined_gaps(tuple(gap for part in parts for gap in part.gaps)))


@dataclass(frozen=True, slots=True)
class _ValuesOfPart:
    """The values of one part of the range."""

    buckets: Buckets
    values: dict[str, BucketValues]
    gaps: tuple[Gap, ...]


def _values(
    rows: pa.Table, table: Table, measures: Iterable[str], buckets: Buckets
) -> dict[str, BucketValues]:
    def values_of(name: str) -> BucketValues:
        if name == UNANSWERED_MS:
            return bucket_values.unanswered(rows, buckets)
        if name in table.counters:
            return bucket_values.rate(rows, table, name, buckets)
        return bucket_values.gauge(rows, name, buckets)

    return {name: values_of(name) for name in measures}


def _stored(
    root: Root,
    slug: str,
    subjects: Sequence[Subject],
    measures: Sequence[str],
    part: LevelRange,
    step_ms: int,
) -> list[_ValuesOfPart]:
    """A part from files. They are read from a time at which each key has a row."""
    level, table = part.level, subjects[0].table
    start_ms = level.all_keys_start_ms(part.from_ms)
    ticks = read_levels.ticks(root, slug, level, start_ms, part.to_ms)
    buckets_of_part = Buckets.of_ticks(ticks) if level is RAW else Buckets.of_level(ticks)
    gaps = tuple(_gaps(ticks.filter(pc.field("at_ms") >= part.from_ms), level.bucket_ms))
    columns = _columns(table, measures, is_raw=level is RAW)
    found = []
    for rows in _rows(root, slug, subjects, part, start_ms, columns):
        buckets, values = buckets_of_part, _values(rows, table, measures, buckets_of_part)
        if level.bucket_ms > step_ms:
            buckets, values = bucket_values.spread(buckets, values, level.bucket_ms, step_ms)
        inside = (buckets.at_ms >= part.from_ms) & (buckets.at_ms < part.to_ms)
        kept = Buckets(*(getattr(buckets, n)[inside] for n in Buckets.__slots__))
        cut = {
            name: BucketValues(*(getattr(each, n)[inside] for n in BucketValues.__slots__))
            for name, each in values.items()
        }
        found.append(_ValuesOfPart(kept, cut, gaps))
    return found


def _rows(
    root: Root,
    slug: str,
    subjects: Sequence[Subject],
    part: LevelRange,
    start_ms: int,
    columns: list[str],
) -> Iterable[pa.Table]:
    """The rows of each subject."""
    table = subjects[0].table
    names = list(table.keys)
    first = {subject.key[:1] for subject in subjects}
    if len(subjects) == 1 or len(first) > 1:
        for subject in subjects:
            key = subject.key_columns
            yield read_levels.rows(
                root, slug, part.level, table, start_ms, part.to_ms, columns, key
            )
        return
    shared = {names[0]: subjects[0].key[0]}
    wanted = [*columns, *names]
    rows = read_levels.rows(root, slug, part.level, table, start_ms, part.to_ms, wanted, shared)
    for subject in subjects:
        yield parquet_rows_by_key.rows_of_key(rows, subject.key_columns)


def _columns(table: Table, measures: Sequence[str], *, is_raw: bool) -> list[str]:
    found = ["at_ms", "state_before", "state"] + (["rated"] if is_raw else [])
    for name in measures:
        if name == UNANSWERED_MS:
            found += [] if is_raw else [name]
        elif name in table.counters:
            found += [name] if is_raw else table_specs.counter_columns(name)
        else:
            found += [f"{name}_before", name] if is_raw else table_specs.gauge_columns(name)
    return found


def _live(slug: str, subject: Subject, measures: Sequence[str], from_ms: int) -> _ValuesOfPart:
    """The ticks of the live window from `from_ms` on."""
    table = subject.table
    found, stored = live_rows.rows_since(slug, table, subject.key_columns, from_ms)
    buckets = Buckets.of_ticks(found)
    return _ValuesOfPart(buckets, _values(stored, table, measures, buckets), tuple(_gaps(found, 0)))


def _gaps(ticks: pa.Table, bucket_ms: int) -> Iterable[Gap]:
    is_raw = "status" in ticks.column_names
    without_samples = pc.field("status") == "gap" if is_raw else pc.field("samples") == 0
    for row in ticks.filter(without_samples).to_pylist():
        length_ms = row["interval_ms"] if is_raw else bucket_ms
        yield Gap(row["at_ms"], row["at_ms"] + length_ms, row["reason"])


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
    for part in read_levels.parts_or_coarser(root, slug, over.from_ms, over.to_ms, level):
        start_ms = part.level.all_keys_start_ms(part.from_ms)
        rows = read_levels.rows(root, slug, part.level, table, start_ms, part.to_ms, [column], key)
        found.update(rows[column].unique().to_pylist())
    return sorted(found)

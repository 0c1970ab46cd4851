"""What the pipeline has to do for one cluster, from what its levels have and the time. Pure.

An hour of raw ticks is rolled up when it is finished: a later hour has ticks and it ended
FLUSHED_MS ago (by then its last ticks are written), or it ended LATE_MS ago. A level knows how many
ticks each of its hours and days was computed from. If the finer level has more now, ticks came
late, and the hour is computed again. The hour after it does not change: a raw row has what was
before it.

The oldest hour is first: the hour level drops repeated rows only if it has the hour before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, MINUTE, RAW, Level, bucket_start
from monitoring.history.manifest import HistoryFile
from monitoring.history.root_folder import SpanFolder

FLUSHED_MS, LATE_MS = 2 * 60_000, 10 * 60_000


@dataclass(frozen=True, slots=True)
class TickCounts:
    """How many raw ticks each level has, or was computed from.

    `raw`: start of an hour → its raw ticks now. `minutes`, `hours`, `days`: start of an hour (of a
    day) → the raw ticks from which the level's rows were computed.
    """

    raw: Mapping[int, int] = field(default_factory=dict)
    minutes: Mapping[int, int] = field(default_factory=dict)
    hours: Mapping[int, int] = field(default_factory=dict)
    days: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RollUpJob:
    """Compute `levels`, finest first, for the time that starts at `start_ms`: minutes and the hour,
    or a day."""

    start_ms: int
    levels: tuple[Level, ...]

    @property
    def kind(self) -> str:
        return "only_hour" if self.levels == (HOUR,) else self.levels[-1].name

    @property
    def end_ms(self) -> int:
        return self.start_ms + (DAY_MS if self.levels[-1] is DAY else HOUR_MS)


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge the files of `[start_ms, end_ms)` of a level into one for each table."""

    span_folder: SpanFolder
    start_ms: int
    end_ms: int

    @property
    def kind(self) -> str:
        return f"merge_{self.span_folder.level.name}"


Job = RollUpJob | MergeJob


def finished_hours(raw: Mapping[int, int], now_ms: int) -> list[int]:
    """The hours of the raw level that are finished, oldest first."""
    newest_ms = max(raw, default=-1)
    return sorted(
        hour
        for hour in raw
        if now_ms - hour - HOUR_MS >= (FLUSHED_MS if newest_ms > hour else LATE_MS)
    )


def roll_ups(counts: TickCounts, kept_from_ms: Mapping[Level, int], now_ms: int) -> list[RollUpJob]:
    """The roll-ups that wait, oldest first; a day after its hours.

    `kept_from_ms`: what is older is not kept by the level any more.
    """
    finished = finished_hours(counts.raw, now_ms)
    jobs = []
    for hour in sorted({*finished, *counts.minutes}):
        is_new = hour in finished and counts.minutes.get(hour, -1) < counts.raw[hour]
        needs_minutes = is_new and hour >= kept_from_ms[MINUTE]
        ticks = counts.raw[hour] if needs_minutes else counts.minutes.get(hour, -1)
        needs_hour = counts.hours.get(hour, -1) < ticks and hour >= kept_from_ms[HOUR]
        needed = ((MINUTE, needs_minutes), (HOUR, needs_hour))
        levels = tuple(level for level, is_needed in needed if is_needed)
        if levels:
            jobs.append(RollUpJob(hour, levels))
    unfinished = {job.start_ms for job in jobs} | (counts.raw.keys() - set(finished))
    jobs += _days(counts, unfinished, kept_from_ms[DAY], now_ms)
    return sorted(jobs, key=lambda job: job.end_ms)


def _days(
    counts: TickCounts, unfinished: Collection[int], kept_from_ms: int, now_ms: int
) -> list[RollUpJob]:
    waiting = {bucket_start(hour, DAY_MS) for hour in unfinished}
    ticks: dict[int, int] = {}
    for hour, count in counts.hours.items():
        day = bucket_start(hour, DAY_MS)
        ticks[day] = ticks.get(day, 0) + count
    return [
        RollUpJob(day, (DAY,))
        for day, count in ticks.items()
        if day not in waiting
        and day >= kept_from_ms
        and day + DAY_MS + LATE_MS <= now_ms
        and counts.days.get(day, -1) < count
    ]


def backfill(counts: TickCounts, from_ms: int, to_ms: int, now_ms: int) -> list[RollUpJob]:
    """The roll-ups of a back-fill: the hours of a range that have raw ticks, and the days of which
    the day level has rows."""
    hours = [hour for hour in finished_hours(counts.raw, now_ms) if from_ms <= hour < to_ms]
    days = {bucket_start(hour, DAY_MS) for hour in hours} & counts.days.keys()
    jobs = [RollUpJob(hour, (MINUTE, HOUR)) for hour in hours]
    jobs += [RollUpJob(day, (DAY,)) for day in days if day + DAY_MS <= to_ms]
    return sorted(jobs, key=lambda job: job.end_ms)


def rolled_up_hours(counts: TickCounts) -> set[int]:
    """The hours of the raw level of which the coarser levels have all ticks."""
    return {
        hour
        for hour, ticks in counts.raw.items()
        if min(counts.minutes.get(hour, -1), counts.hours.get(hour, -1)) >= ticks
    }


def merges(
    files: Mapping[SpanFolder, Sequence[HistoryFile]], waiting: Sequence[RollUpJob], now_ms: int
) -> list[MergeJob]:
    """The merges that are due: a raw hour when it is rolled up and later ticks are there, a day of
    minutes or of hours, a month of hours, a year of days, when it is over and nothing of it waits.

    A chart of 90 days opens the files of all its days: a month of hours is one file in the end.
    """
    newest_raw_ms = max(
        (span_folder.start_ms for span_folder in files if span_folder.level is RAW), default=-1
    )
    jobs = []
    for span_folder, listed in files.items():
        for start_ms, end_ms in _ranges_with_several_files(span_folder, listed, now_ms):
            if end_ms + LATE_MS > now_ms or (
                span_folder.level is RAW and start_ms >= newest_raw_ms
            ):
                continue
            if any(job.start_ms < end_ms and job.end_ms > start_ms for job in waiting):
                continue
            jobs.append(MergeJob(span_folder, start_ms, end_ms))
    return sorted(jobs, key=lambda job: job.start_ms)


def _ranges_with_several_files(
    span_folder: SpanFolder, files: Sequence[HistoryFile], now_ms: int
) -> list[tuple[int, int]]:
    """The ranges of a span in which a table has more than one file."""
    is_day = span_folder.level is HOUR and span_folder.end_ms + LATE_MS > now_ms
    length_ms = DAY_MS if is_day else span_folder.end_ms - span_folder.start_ms
    count: dict[tuple[str, int], int] = {}
    for file in files:
        start_ms = span_folder.start_ms + bucket_start(
            file.min_at_ms - span_folder.start_ms, length_ms
        )
        if file.max_at_ms < start_ms + length_ms:
            count[file.table, start_ms] = count.get((file.table, start_ms), 0) + 1
    starts = {start_ms for (_, start_ms), number in count.items() if number > 1}
    return [(start, start + length_ms) for start in sorted(starts)]

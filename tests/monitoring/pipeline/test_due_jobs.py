from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, RAW
from monitoring.history.manifest import HistoryFile
from monitoring.history.root_folder import SpanFolder
from monitoring.pipeline.due_jobs import (
    LATE_MS,
    MergeJob,
    RollUpJob,
    TickCounts,
    backfill,
    finished_hours,
    merges,
    roll_ups,
    rolled_up_hours,
)

DAY_START = 20_000 * DAY_MS
KEPT = dict.fromkeys(LEVELS, 0)
MINUTE_MS = 60_000


def hour(number):
    return DAY_START + number * HOUR_MS


def hours(count, ticks=720):
    return {hour(number): ticks for number in range(count)}


def file(at_ms, table="ticks"):
    return HistoryFile(
        name=f"{table}-{at_ms}", table=table, rows=1, min_at_ms=at_ms, max_at_ms=at_ms, bytes=1
    )


def test_an_hour_is_finished_two_minutes_later_if_a_later_hour_has_ticks():
    raw = hours(2)
    assert finished_hours(raw, hour(1) + 2 * MINUTE_MS - 1) == []
    assert finished_hours(raw, hour(1) + 2 * MINUTE_MS) == [hour(0)]


def test_the_newest_hour_is_finished_ten_minutes_after_its_end():
    assert finished_hours(hours(1), hour(1) + LATE_MS - 1) == []
    assert finished_hours(hours(1), hour(1) + LATE_MS) == [hour(0)]


def test_hours_wait_oldest_first():
    assert roll_ups(TickCounts(raw=hours(3)), KEPT, hour(3)) == [
        RollUpJob(hour(0), (MINUTE, HOUR)),
        RollUpJob(hour(1), (MINUTE, HOUR)),
    ]


def test_late_ticks_compute_their_hour_again_and_no_other():
    done = TickCounts(raw=hours(2) | {hour(0): 721}, minutes=hours(2), hours=hours(2))
    assert roll_ups(done, KEPT, hour(3)) == [RollUpJob(hour(0), (MINUTE, HOUR))]


def test_an_hour_whose_minutes_are_there_goes_on_from_them():
    [job] = roll_ups(TickCounts(minutes=hours(1)), KEPT, hour(3))
    assert job == RollUpJob(hour(0), (HOUR,))
    assert job.kind == "only_hour"  # that of a job of minutes and the hour is "hour"


def test_a_day_is_computed_when_it_is_over_and_no_hour_of_it_waits():
    done = TickCounts(raw=hours(24), minutes=hours(24), hours=hours(24))
    assert roll_ups(done, KEPT, hour(24)) == []
    assert roll_ups(done, KEPT, hour(24) + LATE_MS) == [RollUpJob(DAY_START, (DAY,))]
    lacking = TickCounts(raw=hours(24), minutes=hours(24), hours=hours(23))
    assert roll_ups(lacking, KEPT, hour(25)) == [RollUpJob(hour(23), (HOUR,))]
    with_day = TickCounts(done.raw, done.minutes, done.hours, {DAY_START: 24 * 720})
    assert roll_ups(with_day, KEPT, hour(25)) == []


def test_what_a_level_does_not_keep_any_more_is_not_computed_again():
    kept = KEPT | {MINUTE: hour(1), HOUR: hour(2)}
    assert roll_ups(TickCounts(raw=hours(3)), kept, hour(9)) == [
        RollUpJob(hour(1), (MINUTE,)),
        RollUpJob(hour(2), (MINUTE, HOUR)),
    ]


def test_raw_hours_are_rolled_up_when_the_levels_have_all_their_ticks():
    found = TickCounts(raw=hours(3), minutes=hours(2), hours=hours(2) | {hour(1): 719})
    assert rolled_up_hours(found) == {hour(0)}


def test_a_back_fill_has_the_finished_hours_with_raw_ticks_and_the_days_behind_them():
    found = TickCounts(raw=hours(25), days={DAY_START: 1})
    jobs = backfill(found, hour(22), hour(25), hour(26))
    assert [(job.kind, job.start_ms) for job in jobs[:2]] == [
        ("hour", hour(22)),
        ("hour", hour(23)),
    ]
    assert jobs[2:] == [RollUpJob(DAY_START, (DAY,)), RollUpJob(hour(24), (MINUTE, HOUR))]


def test_files_are_merged_when_their_hour_or_day_is_over_and_nothing_of_it_waits():
    raw = SpanFolder("local", RAW, RAW.span_of(hour(0)))
    newest = SpanFolder("local", RAW, RAW.span_of(hour(30)))
    minutes = SpanFolder("local", MINUTE, MINUTE.span_of(hour(0)))
    months = SpanFolder("local", HOUR, HOUR.span_of(hour(0)))
    two = (file(hour(0)), file(hour(0) + 1))
    files = {raw: two, newest: (file(hour(30)), file(hour(30) + 1)), minutes: two, months: two}
    due = [
        MergeJob(raw, hour(0), hour(1)),
        MergeJob(minutes, hour(0), hour(24)),
        MergeJob(months, hour(0), hour(24)),
    ]
    assert merges(files, [], hour(32)) == due
    assert merges(files, [], hour(20)) == due[:1]
    assert merges(files, [RollUpJob(hour(3), (MINUTE, HOUR))], hour(32)) == due[:1]
    assert merges({minutes: (file(hour(0)), file(hour(0), "topics"))}, [], hour(32)) == []


def test_the_hours_of_a_month_are_one_file_when_the_month_is_over():
    month = SpanFolder("local", HOUR, HOUR.span_of(hour(0)))
    files = {month: (file(month.start_ms), file(month.start_ms + DAY_MS))}
    assert merges(files, [], month.end_ms) == []
    due = [MergeJob(month, month.start_ms, month.end_ms)]
    assert merges(files, [], month.end_ms + LATE_MS) == due

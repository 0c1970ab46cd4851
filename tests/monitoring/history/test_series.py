"""The values of a subject over time, from stored ticks and the live window."""

import math

import pyarrow as pa
import pytest

from monitoring.history import append_ticks, live_rows, manifest, points, series
from monitoring.history.levels import HOUR_MS, MINUTE, MINUTE_MS
from monitoring.history.root_folder import SpanFolder
from monitoring.history.series import Range, Subject
from monitoring.history.table_specs import LEVEL_TICKS, TICKS, TOPICS, UNANSWERED_MS
from monitoring.ticks.tick import Tick
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000
FROM_MS = FIRST * INTERVAL_MS


@pytest.fixture(autouse=True)
def _interval(settings):
    settings.AERIE_TICK_SECONDS = INTERVAL_MS // 1000


def sampled(number, end, committed=None):
    row = {"topic": "a", "partition": 0, "log_start_offset": 0, "log_end_offset": end}
    group = {"group": "g", "topic": "a", "partition": 0, "committed_offset": committed or 0}
    return make_tick(number, partitions=[row], groups=[group | {"log_end_offset": end}])


def over(ticks, step_ms=INTERVAL_MS):
    return Range(FROM_MS, FROM_MS + ticks * INTERVAL_MS, step_ms)


def known(values):
    return [None if math.isnan(value) else round(value, 3) for value in values]


def test_stored_ticks_and_the_live_window_are_joined_without_a_seam(root, redis_server):
    for number in range(6):
        put_tick(sampled(FIRST + number, end=10 * number))
    append_ticks.flush(root, "local")
    for number in range(6, 9):
        put_tick(sampled(FIRST + number, end=10 * number))
    found = series.read("local", Subject.topic("a"), ["records"], over(9)).measures["records"]
    assert known(found.mean) == [None] + [2.0] * 8
    assert found.amount == 80


def test_a_lag_that_did_not_change_is_known_in_every_tick(root, redis_server):
    for number in range(5):
        put_tick(sampled(FIRST + number, end=10, committed=4))
    append_ticks.flush(root, "local")
    for subject in (Subject.group("g"), Subject.group("g", "a"), Subject.group("g", "a", 0)):
        found = series.read("local", subject, ["lag"], over(5)).measures["lag"]
        assert known(found.mean) == [6.0] * 5


def test_a_lag_that_did_not_change_is_known_in_live_ticks_after_a_flush(root, redis_server):
    for number in range(5):
        put_tick(sampled(FIRST + number, end=10, committed=4))
    append_ticks.flush(root, "local")
    for number in range(5, 13):
        put_tick(sampled(FIRST + number, end=10, committed=4))
    found = series.read("local", Subject.group("g"), ["lag"], over(13)).measures["lag"]
    assert known(found.mean) == [6.0] * 13


def test_an_open_range_has_a_tick_that_is_ahead_of_the_clock(root, redis_server):
    put_tick(sampled(FIRST + 2, end=10, committed=4))
    now_ms = FROM_MS + INTERVAL_MS
    until = Range.until(now_ms, 3 * INTERVAL_MS, 3)
    lags = series.read("local", Subject.group("g"), ["lag"], until).measures["lag"]
    assert known(lags.mean)[-1] == 6.0


def test_a_tick_that_comes_between_the_reads_of_two_subjects_is_in_none(
    root, redis_server, monkeypatch
):
    for number in (2, 3):
        put_tick(sampled(FIRST + number, end=10 * number))
    rows_since = live_rows.rows_since

    def then_comes_a_tick(*arguments):
        found = rows_since(*arguments)
        put_tick(sampled(FIRST + 4, end=40))  # once: Redis refuses it the second time
        return found

    monkeypatch.setattr(live_rows, "rows_since", then_comes_a_tick)
    until = Range.until(FROM_MS + INTERVAL_MS, 3 * INTERVAL_MS, 3)
    # Two keys, since the rows of one key are read once for all.
    subjects = [Subject.topic("a", 0), Subject.topic("a", 1)]
    found = series.read_all("local", subjects, ["records"], until)
    parts = [one.measures["records"] for one in found]
    assert len(parts[0].at_ms) == len(parts[1].at_ms)
    assert known(points.total(parts).mean)[-1] == 2.0


def test_a_point_of_several_ticks_keeps_the_highest_and_the_lowest(root, redis_server):
    for number, end in enumerate([0, 0, 100, 100, 100, 100]):
        put_tick(sampled(FIRST + number, end=end))
    append_ticks.flush(root, "local")
    found = series.read("local", Subject.topic("a", 0), ["records"], over(6, 6 * INTERVAL_MS))
    points = found.measures["records"]
    assert [known(values) for values in (points.low, points.mean, points.high)] == [[0], [4], [20]]


def test_the_time_without_an_answer_is_that_of_silent_coordinators_and_leaders(root, redis_server):
    read = {"group": "g", "topic": "a", "partition": 0, "committed_offset": 4, "log_end_offset": 9}
    silent = read | {"reported_at_ms": 40, "log_end_offset": None}
    not_committed = read | {"committed_offset": None}
    rows = [read, silent, silent, read | {"log_end_offset": None}, not_committed, read]
    for number, row in enumerate(rows):
        put_tick(make_tick(FIRST + number, groups=[row]))
    for is_stored in (False, True):
        if is_stored:
            append_ticks.flush(root, "local")
        for subject in (Subject.group("g"), Subject.group("g", "a"), Subject.group("g", "a", 0)):
            found = series.read("local", subject, [UNANSWERED_MS], over(6)).measures[UNANSWERED_MS]
            assert known(found.mean) == [0, 5000, 5000, 5000, 0, 0]
            assert found.amount == 15_000
            coarse = series.read("local", subject, [UNANSWERED_MS], over(6, 2 * INTERVAL_MS))
            assert known(coarse.measures[UNANSWERED_MS].high) == [5000, 10_000, 0]


def test_a_gap_breaks_the_line_and_has_its_reason(root, redis_server):
    put_tick(sampled(FIRST, end=0))
    gaps = [
        Tick(cluster="local", tick=FIRST + n, at_ms=(FIRST + n) * INTERVAL_MS,
             interval_ms=INTERVAL_MS, status="gap", reason="no broker answered")
        for n in range(1, 5)
    ]  # fmt: skip
    append_ticks.append(root, "local", [sampled(FIRST, end=0), *gaps, sampled(FIRST + 5, end=50)])
    found = series.read("local", Subject.topic("a"), ["records"], over(6))
    assert known(found.measures["records"].mean) == [None] * 6
    assert found.measures["records"].amount == 50
    [gap] = found.gaps
    assert (gap.to_ms - gap.from_ms, gap.reason) == (4 * INTERVAL_MS, "no broker answered")


def test_a_subject_that_is_not_there_has_no_values(root, redis_server):
    put_tick(sampled(FIRST, end=0))
    append_ticks.flush(root, "local")
    found = series.read("local", Subject.topic("b"), ["records", "size_bytes"], over(2))
    assert known(found.measures["records"].mean) == [None, None]


def test_a_range_before_the_first_sample_has_no_values(root, redis_server):
    put_tick(sampled(FIRST, end=1))
    append_ticks.flush(root, "local")
    day_before = over(3).earlier(24 * HOUR_MS)
    found = series.read("local", Subject.topic("a"), ["records"], day_before).measures["records"]
    assert known(found.mean) == [None] * 3


def test_several_subjects_have_the_values_that_each_has_alone(root, redis_server):
    for number in range(6):
        put_tick(sampled(FIRST + number, end=10 * number, committed=number))
    append_ticks.flush(root, "local")
    for subjects in (
        [Subject.group("g", "a"), Subject.group("g", "nothing")],
        [Subject.group("g", "a"), Subject.group("h", "a")],
    ):
        found = series.read_all("local", subjects, ["lag"], over(6))
        assert [known(one.measures["lag"].mean) for one in found] == [
            [9.0 * number for number in range(6)],
            [None] * 6,
        ]
        alone = [series.read("local", subject, ["lag"], over(6)) for subject in subjects]
        assert [known(one.measures["lag"].mean) for one in alone] == [
            known(one.measures["lag"].mean) for one in found
        ]
    assert series.read_all("local", [], ["lag"], over(6)) == []


def test_an_unknown_measure_is_refused(root):
    with pytest.raises(KeyError, match="topics has no measure lag"):
        series.read("local", Subject.topic("a"), ["lag"], over(2))


def write_minutes(root, from_ms, count):
    """Minutes in which the topic gets 5 records per second."""
    span_folder = SpanFolder("local", MINUTE, MINUTE.span_of(from_ms))
    times = range(from_ms, from_ms + count * MINUTE_MS, MINUTE_MS)
    of_bucket = {"samples": 12, "gaps": 0, "rated_ms": MINUTE_MS, "reason": ""}
    of_topic = {"topic": "a", "state_before": 3, "state": 3, "records": 300, "records_rated": 300}
    of_topic |= {"records_rated_ms": MINUTE_MS, "records_low": 0.0, "records_high": 60.0}
    tables = {TICKS: (of_bucket, LEVEL_TICKS), TOPICS.name: (of_topic, TOPICS.level_schema)}
    files = []
    for name, (row, schema) in tables.items():
        rows = pa.Table.from_pylist([{"at_ms": at_ms} | row for at_ms in times], schema=schema)
        files.append(append_ticks.write_file(root, span_folder, name, rows))
    manifest.replace(root, span_folder, manifest.load(root, span_folder), files)


def test_where_the_ticks_have_expired_a_short_step_has_the_values_of_minutes(root, redis_server):
    from_ms = FROM_MS - FROM_MS % HOUR_MS
    write_minutes(root, from_ms, 60)
    put_tick(sampled(FIRST + 2000, end=10))
    append_ticks.flush(root, "local")
    asked = Range(from_ms + 10_000, from_ms + 130_000, 5000)
    found = series.read("local", Subject.topic("a"), ["records"], asked).measures["records"]
    assert known(found.mean) == [5.0] * 24
    assert known(found.high) == [60.0] * 24
    assert found.amount == pytest.approx(600)

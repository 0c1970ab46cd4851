import os

from monitoring.history.levels import DAY, HOUR, HOUR_MS, MINUTE, RAW
from monitoring.history.root_folder import SpanFolder
from monitoring.pipeline import delete_expired_history
from tests.monitoring.pipeline.test_due_jobs import DAY_START, hour


def raw(number):
    return SpanFolder("local", RAW, RAW.span_of(hour(number)))


def test_a_span_is_deleted_when_all_of_it_is_older_than_the_retention(settings):
    settings.AERIE_HISTORY_RAW_HOURS, settings.AERIE_HISTORY_MINUTE_DAYS = 2, 1
    settings.AERIE_HISTORY_HOUR_DAYS, settings.AERIE_HISTORY_DAY_DAYS = 60, 0
    span_folders = [raw(0), raw(1), raw(2)]
    span_folders += [
        SpanFolder("local", level, level.span_of(DAY_START)) for level in (MINUTE, HOUR, DAY)
    ]
    rolled_up = {hour(0), hour(1), hour(2)}
    assert delete_expired_history.expired(span_folders, rolled_up, hour(4) - 1) == [raw(0)]
    assert delete_expired_history.expired(span_folders, rolled_up, hour(48)) == [
        raw(0),
        raw(1),
        span_folders[3],
    ]
    late = hour(24 * 365 * 3)
    assert delete_expired_history.expired(span_folders, rolled_up, late) == [
        raw(0),
        raw(1),
        *span_folders[3:5],
    ]


def test_nothing_expires_that_is_kept_for_good(settings):
    settings.AERIE_HISTORY_RAW_HOURS = 0
    assert delete_expired_history.expired([raw(0), raw(1)], {hour(0)}, hour(9999)) == []


def test_raw_hours_that_are_not_rolled_up_are_kept_three_times_as_long(settings):
    settings.AERIE_HISTORY_RAW_HOURS = 10
    span_folders = [raw(0), raw(100)]
    assert delete_expired_history.expired(span_folders, {hour(0)}, hour(11)) == [raw(0)]
    assert delete_expired_history.expired(span_folders, set(), hour(30)) == []
    assert delete_expired_history.expired(span_folders, set(), hour(31)) == [raw(0)]


def test_folders_of_dead_jobs_are_deleted_later(root):
    root.write(b"x", "cluster=local", "_jobs", "dead", "hour-topics", "part-0.parquet")
    for folder, _, names in os.walk(root.path("cluster=local", "_jobs", "dead")):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.utime(path, (1000, 1000))
    delete_expired_history.delete_dead_jobs(root, "local", 1_000_000 + HOUR_MS)
    assert len(root.entries("cluster=local", "_jobs")) == 1
    delete_expired_history.delete_dead_jobs(root, "local", 1_000_001 + HOUR_MS)
    assert root.entries("cluster=local", "_jobs") == []

"""Which segments the next check of a broker deletes."""

import pytest

from console.segments.retention import Retention


def segments(*latest_ms, size_bytes=100):
    """Of 10 offsets each; the last one is active."""
    return [
        {"base_offset": 10 * n, "next_offset": 10 * n + 10, "size_bytes": size_bytes,
         "largest_timestamp_ms": at_ms, "active": n == len(latest_ms) - 1}
        for n, at_ms in enumerate(latest_ms)
    ]  # fmt: skip


def test_settings_say_how_long_and_how_much_is_kept():
    delete = {"cleanup.policy": "delete"}
    values = delete | {"retention.ms": "1000", "retention.bytes": "-1"}
    assert Retention.of(values) == Retention(1000)
    assert Retention.of(values | {"retention.bytes": "5"}) == Retention(1000, 5)
    assert Retention.of(delete | {"retention.ms": "-1"}) == Retention()
    assert Retention.of(values | {"cleanup.policy": "compact"}) == Retention(is_compacted=True)
    both = Retention(1000, is_compacted=True)
    assert Retention.of(values | {"cleanup.policy": "compact,delete"}) == both
    assert Retention.of({}) == Retention()


def test_segments_older_than_the_retention_are_due_up_to_the_first_that_stays():
    kept = Retention(50)
    assert kept.due(segments(10, 20, 99, 99), 0, None, 100) == {0, 10}
    assert kept.due(segments(99, 20, 99), 0, None, 100) == set()
    assert kept.due(segments(10, 20), 0, None, 100) == {0}  # the active one stays
    assert kept.due(segments(None, 20, 99), 0, None, 100) == set()
    assert kept.due(segments(50, 99), 0, None, 100) == set()


@pytest.mark.parametrize(
    ("size_bytes", "due"), [(400, set()), (301, set()), (300, {0}), (150, {0, 10})]
)
def test_the_oldest_segments_are_due_while_the_log_stays_large_enough(size_bytes, due):
    assert Retention(None, size_bytes).due(segments(1, 1, 1, 1), 0, None, 100) == due


def test_segments_before_the_log_start_are_due():
    assert Retention().due(segments(1, 1, 1), 20, None, 100) == {0, 10}
    assert Retention().due(segments(1, 1, 1), 15, None, 100) == {0}
    assert Retention().due(segments(1, 1, 1), None, None, 100) == set()


def test_segments_beyond_the_high_watermark_stay():
    assert Retention(50).due(segments(10, 20, 99), 0, 20, 100) == {0, 10}
    assert Retention(50).due(segments(10, 20, 99), 0, 15, 100) == {0}


def test_a_closed_segment_says_when_it_will_be_due():
    [closed, active] = segments(10, 20)
    assert Retention(50).due_at_ms(closed) == 60
    assert Retention(50).due_at_ms(active) is None
    assert Retention().due_at_ms(closed) is None
    assert Retention(50).due_at_ms(closed | {"largest_timestamp_ms": None}) is None

"""The steps of a look-up, from answers of the admin port."""

import pytest

from console.segments.lookup import (
    OffsetNotFound,
    OffsetOutside,
    check_offset,
    segment_number,
    steps_of,
)

SEGMENTS = [{"base_offset": base} for base in (0, 100, 200, 300)]


def batch(base: int) -> dict:
    return {"base_offset": base, "last_offset": base + 9, "size_bytes": 500}


def answer(*bases: int) -> dict:
    entry = {"offset": 119, "position_bytes": 1000}
    return {
        "took_us": 50.0, "time_entry": None, "entry": entry, "near_entries": [entry],
        "entry_count": 5, "scan_from_bytes": 1000, "batches": [batch(base) for base in bases],
    }  # fmt: skip


def test_the_steps_say_what_was_passed_and_where_the_record_is():
    steps = steps_of(answer(110, 120, 130), 137, SEGMENTS, 1, None)
    assert [each["base_offset"] for each in steps.passed] == [110, 120]
    assert (steps.batch["base_offset"], steps.delta) == (130, 7)
    assert (steps.scan_from, steps.scanned_bytes) == (1000, 1500)
    assert steps.took_ms == 0.05


def test_the_steps_have_the_segments_around():
    steps = steps_of(answer(310), 315, SEGMENTS, 3, None)
    assert (steps.near_segments, steps.segment_count) == ([100, 200, 300], 4)
    assert steps.segment == SEGMENTS[3]


@pytest.mark.parametrize(("offset", "number"), [(0, 0), (99, 0), (100, 1), (999, 3)])
def test_the_segment_is_the_last_one_that_begins_at_or_before_the_offset(offset, number):
    assert segment_number(offset, SEGMENTS) == number


def test_an_offset_before_all_segments_is_not_found():
    with pytest.raises(OffsetNotFound):
        segment_number(4, [{"base_offset": 5}])


@pytest.mark.parametrize(
    ("offset", "start", "end"), [(9, 10, 20), (20, 10, 20), (0, 10, 10), (0, 0, 0)]
)
def test_an_offset_outside_of_the_log_is_told_with_those_that_are_in_it(offset, start, end):
    with pytest.raises(OffsetOutside) as outside:
        check_offset(offset, start, end)
    assert outside.value.valid == range(start, end)


def test_an_offset_in_the_log_is_looked_up():
    check_offset(10, 10, 20)
    check_offset(19, 10, 20)


@pytest.mark.parametrize("bases", [(), (110,), (110, 130)])
def test_what_no_batch_holds_is_not_found(bases):
    with pytest.raises(OffsetNotFound):
        steps_of(answer(*bases), 123, SEGMENTS, 1, None)

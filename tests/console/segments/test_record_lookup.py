"""The steps of a look-up, from answers of the admin port."""

import pytest

from console.segments.looked_up_offset import OffsetNotFound, OffsetOutside
from console.segments.record_lookup import look_up

SEGMENTS = [{"base_offset": base, "next_offset": base + 100} for base in (0, 100, 200, 300)]


def batch(base: int) -> dict:
    return {"base_offset": base, "last_offset": base + 9, "size_bytes": 500}


def answer(offset: int, *bases: int) -> dict:
    entry = {"offset": 119, "position_bytes": 1000}
    return {
        "offset": offset, "base_offset": offset // 100 * 100, "took_us": 50.0, "time_entry": None,
        "entry": entry, "near_entries": [entry], "entry_count": 5, "scan_from_bytes": 1000,
        "batches": [batch(base) for base in bases],
    }  # fmt: skip


def test_the_steps_say_what_was_passed_and_where_the_record_is():
    steps = look_up(answer(137, 110, 120, 130), SEGMENTS, 0, 137, None)
    assert [each["base_offset"] for each in steps.passed] == [110, 120]
    assert (steps.batch["base_offset"], steps.delta) == (130, 7)
    assert (steps.scan_from, steps.scanned_bytes) == (1000, 1500)
    assert steps.took_ms == 0.05


def test_the_steps_have_the_segments_around():
    steps = look_up(answer(315, 310), SEGMENTS, 0, 315, None)
    assert (steps.near_segments, steps.segment_count) == ([100, 200, 300], 4)
    assert steps.segment == SEGMENTS[3]


def test_a_time_leads_to_the_offset_of_the_first_record_at_or_after_it():
    steps = look_up(answer(137, 130), SEGMENTS, 0, None, 1_700_000_000_000)
    assert (steps.offset, steps.at_ms) == (137, 1_700_000_000_000)


def test_a_log_without_segments_has_no_offset():
    with pytest.raises(OffsetNotFound):
        look_up(None, [], 0, 4, None)


@pytest.mark.parametrize("offset", [4, 400])
def test_an_offset_outside_of_the_segments_is_told_with_those_that_are_in_them(offset):
    with pytest.raises(OffsetOutside) as outside:
        look_up(None, SEGMENTS, 5, offset, None)
    assert outside.value.valid == range(5, 400)


@pytest.mark.parametrize("bases", [(), (110,), (110, 130)])
def test_what_no_batch_holds_is_not_found(bases):
    with pytest.raises(OffsetNotFound):
        look_up(answer(123, *bases), SEGMENTS, 0, 123, None)


def test_a_time_after_the_last_record_is_not_found():
    with pytest.raises(OffsetNotFound):
        look_up(None, SEGMENTS, 0, None, 2_000_000_000_000)

"""The steps of a look-up, on made files."""

import pytest

from console.segments.lookup import (
    ENTRIES_PER_READ,
    OffsetNotFound,
    OffsetOutside,
    check_offset,
    look_up,
)

SEGMENTS = [
    {"base_offset": 0, "next_offset": 10_000},
    {"base_offset": 10_000, "next_offset": 40_000},
    {"base_offset": 40_000, "next_offset": 40_010},
]
BATCH_BYTES = 500  # each has ten records, each fourth one an index entry


def batches_of(base: int) -> list[dict]:
    end = next(each["next_offset"] for each in SEGMENTS if each["base_offset"] == base)
    return [
        {
            "base_offset": first, "last_offset": first + 9, "size_bytes": BATCH_BYTES,
            "position_bytes": (first - base) // 10 * BATCH_BYTES,
        }
        for first in range(base, end, 10)
        if first != 20_000  # compacted
    ]  # fmt: skip


class Files:
    """Serves index entries and batches, and counts the reads."""

    def __init__(self) -> None:
        self.reads = 0

    def index(self, base: int, kind: str, start: int, limit: int) -> dict:
        self.reads += 1
        found = [
            {"offset": each["base_offset"], "position_bytes": each["position_bytes"]}
            if kind == "offset"
            else {"timestamp_ms": each["base_offset"] * 1000, "offset": each["base_offset"]}
            for each in batches_of(base)[4::4]
        ]
        return {"entries": found[start : start + limit], "total": len(found)}

    def batches(self, base: int, position: int, limit: int) -> dict:
        self.reads += 1
        found = [each for each in batches_of(base) if each["position_bytes"] >= position]
        after = found[limit]["position_bytes"] if len(found) > limit else None
        return {"batches": found[:limit], "next_position": after}


def found(offset: int):
    files = Files()
    return look_up(offset, SEGMENTS, files.index, files.batches), files


def test_a_time_is_found_by_the_time_index_and_scanned_from_its_offset():
    files = Files()
    steps = look_up(25_437, SEGMENTS, files.index, files.batches, 25_437_000)
    assert steps.at_ms == 25_437_000
    assert steps.time_entry["offset"] <= 25_437 < steps.time_entry["offset"] + 50
    assert steps.entry["offset"] == steps.time_entry["offset"]
    assert steps.batch["base_offset"] == 25_430


def test_a_time_before_the_first_entry_of_the_time_index_is_scanned_from_the_file():
    files = Files()
    steps = look_up(10_003, SEGMENTS, files.index, files.batches, 10_003_000)
    assert (steps.time_entry, steps.scan_from) == (None, 0)


@pytest.mark.parametrize(
    ("offset", "has_entry"),
    [
        (0, False), (7, False), (10_000, False), (10_039, False), (10_040, True), (25_437, True),
        (39_999, True), (40_009, False),
    ],
)  # fmt: skip
def test_each_offset_is_found_in_its_batch(offset, has_entry):
    steps, files = found(offset)
    assert steps.batch["base_offset"] <= offset <= steps.batch["last_offset"]
    assert steps.delta == offset % 10
    assert steps.segment["base_offset"] <= offset < steps.segment["next_offset"]
    assert files.reads <= 5
    assert (steps.entry is not None) is has_entry
    if has_entry:
        assert steps.entry["offset"] <= offset
        assert steps.entry in steps.near_entries
        assert steps.scan_from == steps.entry["position_bytes"]


def test_the_scan_begins_at_the_index_entry_and_passes_few_batches():
    steps, _files = found(25_437)
    assert steps.entry_count > 5 * ENTRIES_PER_READ
    assert len(steps.passed) <= 3
    assert steps.scanned_bytes == (len(steps.passed) + 1) * BATCH_BYTES
    assert steps.near_segments == [0, 10_000, 40_000]


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


@pytest.mark.parametrize("offset", [40_010, 20_003])
def test_what_no_batch_holds_is_not_found(offset):
    with pytest.raises(OffsetNotFound):
        found(offset)

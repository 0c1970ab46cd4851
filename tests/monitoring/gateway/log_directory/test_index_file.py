"""Index files as Kafka's brokers leave them: whole, allocated in advance, empty, damaged."""

import struct

import pytest

from monitoring.gateway.log_directory.damaged_file import DamagedFile
from monitoring.gateway.log_directory.index_file import IndexFile

FORMATS = {"offset": ">ii", "time": ">qi"}
BASE = 1000
ALLOCATED_BYTES = 10 << 20


def index_of(kind: str, data: bytes) -> IndexFile:
    return IndexFile.of(kind, BASE, lambda at, size: data[at : at + size], len(data))


def packed(kind: str, *entries: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(FORMATS[kind], *entry) for entry in entries)


def allocated(kind: str, *entries: tuple[int, int]) -> bytes:
    slot = struct.calcsize(FORMATS[kind])
    return packed(kind, *entries).ljust(ALLOCATED_BYTES // slot * slot, b"\0")


def test_the_entries_of_a_closed_segment_are_read_in_pages():
    index = index_of("offset", packed("offset", (9, 4100), (20, 8300), (31, 12500)))
    assert index.count == 3
    assert index.entries(1, 1) == [(1020, 8300)]
    assert index.entries(2, 10) == [(1031, 12500)]
    assert index.entries(3, 10) == []
    times = index_of("time", packed("time", (5000, 9), (6000, 31)))
    assert times.entries(0, 10) == [(5000, 1009), (6000, 1031)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_zeros_behind_the_last_entry_are_no_entries(kind, count):
    entries = [(number * 10, number * 5) for number in range(1, count + 1)]
    index = index_of(kind, allocated(kind, *entries))
    assert index.count == count
    assert len(index.entries(0, 10_000)) == count


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("make", [packed, allocated])
def test_an_index_without_entries_has_none(kind, make):
    index = index_of(kind, make(kind))
    assert (index.count, index.entries(0, 10), index.floor(5000)) == (0, [], -1)


def test_one_record_of_the_time_0_is_an_entry_of_a_closed_segment():
    assert index_of("time", packed("time", (0, 0))).entries(0, 10) == [(0, BASE)]


def test_a_first_entry_of_the_time_0_is_kept_before_others_and_zeros():
    index = index_of("time", allocated("time", (0, 0), (7, 3), (9, 4)))
    assert index.entries(0, 10) == [(0, 1000), (7, 1003), (9, 1004)]


@pytest.mark.parametrize(
    ("offset", "number"), [(1000, -1), (1008, -1), (1009, 0), (1019, 0), (1020, 1), (5000, 1)]
)
def test_the_last_entry_at_or_before_an_offset_is_found(offset, number):
    assert index_of("offset", allocated("offset", (9, 4100), (20, 8300))).floor(offset) == number


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("offset", packed("offset", (9, 4100)) + b"\0\0\0", "ends within an entry"),
        ("time", packed("time", (5000, 9))[:-1], "ends within an entry"),
        ("offset", packed("offset", (-9, 4100), (20, 8300)), "negative"),
        ("offset", packed("offset", (9, -1)), "negative"),
        ("time", packed("time", (-5, 9)), "negative"),
        ("offset", packed("offset", (20, 4100), (9, 8300)), "do not rise"),
        ("time", packed("time", (6000, 9), (5000, 20)), "do not rise"),
    ],
)
def test_a_damaged_index_is_reported(kind, data, why):
    with pytest.raises(DamagedFile, match=why):
        index_of(kind, data)


def test_a_page_with_entries_that_do_not_rise_is_reported():
    index = index_of("offset", packed("offset", (9, 1), (30, 20), (20, 10), (40, 30)))
    with pytest.raises(DamagedFile, match="do not rise"):
        index.entries(0, 10)


def test_a_file_that_becomes_shorter_is_reported():
    data = bytearray(packed("offset", (9, 1), (30, 20)))
    index = IndexFile.of("offset", BASE, lambda at, size: bytes(data[at : at + size]), len(data))
    del data[8:]
    with pytest.raises(DamagedFile, match="shorter"):
        index.entries(0, 10)

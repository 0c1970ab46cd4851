"""The offset index and the time index: format, look-ups, and files that lag behind memory."""

import os
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.log.indexes.offset_index import PENDING_MAX, CorruptIndexError, OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex

rising = st.lists(st.integers(1, 1000), min_size=1, max_size=50).map(
    lambda steps: [sum(steps[: i + 1]) for i in range(len(steps))]
)
in_tmp_path = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_the_files_hold_what_kafka_writes(tmp_path: Path) -> None:
    offsets = OffsetIndex(str(tmp_path / "o"), 100)
    times = TimeIndex(str(tmp_path / "t"), 100)
    offsets.append(105, 4200)
    times.append(1_700_000_000_000, 105)
    offsets.flush()
    times.flush()
    assert (tmp_path / "o").read_bytes() == struct.pack(">ii", 5, 4200)
    assert (tmp_path / "t").read_bytes() == struct.pack(">qi", 1_700_000_000_000, 5)
    assert TimeIndex.load(str(tmp_path / "t"), 100).last == (1_700_000_000_000, 105)
    with pytest.raises(CorruptIndexError):
        TimeIndex.load(str(tmp_path / "missing"), 100)


@in_tmp_path
@given(offsets=rising, base=st.integers(0, 2**40))
def test_an_offset_index_comes_back_and_finds_the_floor(
    tmp_path: Path, offsets: list[int], base: int
) -> None:
    path = str(tmp_path / "index")
    Path(path).unlink(missing_ok=True)
    index = OffsetIndex(path, base)
    for offset in offsets:
        index.append(base + offset, offset * 10)
    index.flush()
    again = OffsetIndex.load(path, base, offsets[-1] * 10 + 1)
    assert again.entries(0, 100) == [(base + o, o * 10) for o in offsets]
    for asked in range(0, offsets[-1] + 2, 7):
        floor = max((o for o in offsets if o <= asked), default=0)
        assert again.floor(base + asked) == floor * 10
        assert again.boundary_at_most(asked * 10) == floor * 10


@in_tmp_path
@given(offsets=rising, cut=st.integers(0, 2000))
def test_truncated_indexes_forget_the_rest_on_disk_too(
    tmp_path: Path, offsets: list[int], cut: int
) -> None:
    paths = [str(tmp_path / name) for name in ("offset", "time")]
    for path in paths:
        Path(path).write_bytes(b"")
    index, times = OffsetIndex(paths[0], 0), TimeIndex(paths[1], 0)
    for offset in offsets:
        index.append(offset, offset)
        times.append(offset + 5, offset)
    index.flush()
    times.flush()
    index.truncate_to(cut)
    times.truncate_to(cut)
    kept = [o for o in offsets if o < cut]
    assert OffsetIndex.load(paths[0], 0, 1 << 20).entries(0, 100) == [(o, o) for o in kept]
    assert TimeIndex.load(paths[1], 0).entries(0, 100) == [(o + 5, o) for o in kept]


def test_a_timestamp_that_does_not_rise_is_passed_over(tmp_path: Path) -> None:
    times = TimeIndex(str(tmp_path / "t"), 0)
    for timestamp_ms, offset in ((5, 1), (5, 2), (4, 3), (6, 4)):
        times.append(timestamp_ms, offset)
    assert times.entries(0, 9) == [(5, 1), (6, 4)]
    assert [times.floor(at) for at in (4, 5, 6, 7)] == [(-1, 0), (5, 1), (6, 4), (6, 4)]


@in_tmp_path
@given(steps=st.lists(st.integers(1, 9), max_size=40), flushed=st.integers(0, 40))
def test_a_time_is_found_in_the_file_and_behind_it(
    tmp_path: Path, steps: list[int], flushed: int
) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"")
    times = TimeIndex(str(path), 50)
    known = [(-1, 50)]
    for number, step in enumerate(steps):
        known.append((max(known[-1][0], 0) + step, 51 + number))
        times.append(*known[-1])
        if number == flushed:
            times.flush()
    assert times.last == known[-1]
    for asked in range(known[-1][0] + 2):
        assert times.floor(asked) == max(each for each in known if each[0] <= asked)
    for start in range(len(known)):
        assert times.entries(start, 7) == known[1:][start : start + 7]


def test_a_full_time_index_is_opened_by_its_ends_alone(tmp_path: Path) -> None:
    path = tmp_path / "t"
    os.truncate(path.open("wb").name, 262_144 * 12)  # zeros: entries that do not rise
    with path.open("r+b") as file:
        file.seek(-12, os.SEEK_END)
        file.write(struct.pack(">qi", 9, 9))
    times = TimeIndex.load(str(path), 0)
    assert (len(times), times.last, times.entries(262_143, 5)) == (262_144, (9, 9), [(9, 9)])


def test_a_time_index_that_got_shorter_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(struct.pack(">qiqi", 1, 1, 5, 5))
    times = TimeIndex.load(str(path), 0)
    os.truncate(path, 12)
    with pytest.raises(CorruptIndexError):
        times.floor(9)
    with pytest.raises(CorruptIndexError):
        times.entries(0, 2)


def test_entries_reach_the_file_in_bulk(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = OffsetIndex(str(path), 0)
    for i in range(PENDING_MAX + 5):
        index.append(i, i)
    assert path.stat().st_size == PENDING_MAX * 8
    index.flush()
    assert path.stat().st_size == (PENDING_MAX + 5) * 8


def test_entries_wait_in_memory_while_the_disk_refuses(tmp_path: Path) -> None:
    directory = tmp_path / "not there yet"
    index = OffsetIndex(str(directory / "index"), 0)
    for i in range(PENDING_MAX + 5):
        index.append(i, i)
    assert index.floor(PENDING_MAX) == PENDING_MAX
    directory.mkdir()
    index.flush()
    assert len(OffsetIndex.load(str(directory / "index"), 0, 1 << 20)) == PENDING_MAX + 5


@pytest.mark.parametrize(
    "data", [bytes(7), struct.pack(">ii", 1, 500), struct.pack(">iiii", 5, 5, 1, 9)]
)
def test_an_offset_index_that_cannot_be_right_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index").write_bytes(data)
    with pytest.raises(CorruptIndexError):
        OffsetIndex.load(str(tmp_path / "index"), 0, 100)


@pytest.mark.parametrize("held", [None, b"", b"x" * 8, b"x" * 16, b"x" * 100])
def test_an_index_made_anew_holds_its_entries_alone_whatever_was_there(
    tmp_path: Path, held: bytes | None
) -> None:
    for name, index in (
        ("offset", OffsetIndex(str(tmp_path / "offset"), 0)),
        ("time", TimeIndex(str(tmp_path / "time"), 0)),
    ):
        if held is not None:
            (tmp_path / name).write_bytes(held)
        index.append(5, 80)
        index.replace_file()
        index.append(9, 160)
        index.flush()
    assert OffsetIndex.load(str(tmp_path / "offset"), 0, 1000).entries(0, 9) == [(5, 80), (9, 160)]
    assert TimeIndex.load(str(tmp_path / "time"), 0).entries(0, 9) == [(5, 80), (9, 160)]

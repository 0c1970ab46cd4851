"""The first use of a damaged log: another thread reads what takes long, and the log is then what it
is where the first use waits for the disk."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log import retention
from brokerd.log.cleaner.cleanable_offsets import aborted_across
from brokerd.log.io.page_cache import NotInPageCache, PendingRead
from brokerd.log.segments import timestamp_search
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log, records, segments_of
from tests.brokerd.log.test_transactions import ABORT, data, end

CONFIG = LogConfig(segment_bytes=500_000, index_interval_bytes=1000)
BATCHES = 2400
HERE_MAX_BYTES = 150_000
"""So much of the data a first use may read itself, of some 900,000 bytes."""


def filled(directory: Path) -> int:
    """A log of two segments, three leader epochs, two producers, with an aborted transaction at its
    end; it was closed cleanly. Where it ends."""
    log = open_log(directory, CONFIG)
    for number in range(BATCHES):
        producer = (7 + number % 2, 0, number // 2)
        log.append([batch(size=300, timestamp_ms=NOW_MS + number, producer=producer)],
                   number // 1000, NOW_MS)  # fmt: skip
    data(log, 9)
    end(log, 9, ABORT)
    log.append([batch(timestamp_ms=NOW_MS + BATCHES)], 3, NOW_MS)
    log.close()
    assert len(log.local.segments) == 2
    return log.log_end_offset


def last(directory: Path, suffix: str) -> Path:
    return max(directory.glob(f"*{suffix}"))


def torn(directory: Path) -> None:
    path = last(directory, ".log")
    os.truncate(path, path.stat().st_size - 1)


def without_indexes(directory: Path) -> None:
    for path in directory.glob("*index"):
        path.unlink()


def with_short_index(directory: Path) -> None:
    last(directory, ".index").write_bytes(b"xyz")


def with_wrong_times(directory: Path) -> None:
    path = last(directory, ".timeindex")
    path.write_bytes(path.read_bytes()[:-12] + bytes(7) + b"\1" + bytes(4))


def without_epochs(directory: Path) -> None:
    (directory / "leader-epoch-checkpoint").write_text("no checkpoint")


def without_snapshots(directory: Path) -> None:
    for path in directory.glob("*.snapshot"):
        path.write_bytes(b"no snapshot")


def in_every_way(directory: Path) -> None:
    for damage in (torn, without_indexes, without_epochs, without_snapshots):
        damage(directory)


@contextmanager
def counted_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes this very thread reads in files by position."""
    here, read_bytes = threading.get_ident(), [0]
    real_pread, real_preadv = os.pread, os.preadv

    def note(count: int) -> None:
        if threading.get_ident() == here:
            read_bytes[0] += count

    def pread(fd: int, size: int, position: int) -> bytes:
        found = real_pread(fd, size, position)
        note(len(found))
        return found

    def preadv(*args: Any) -> int:
        count = real_preadv(*args)
        note(count)
        return count

    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", pread)
        patch.setattr(os, "preadv", preadv)
        yield read_bytes


def lacking(log: UnifiedLog) -> PendingRead | None:
    try:
        log.load(may_block=False)
    except NotInPageCache as error:
        return error.pending_read
    return None


def load(pending: PendingRead) -> None:
    """As another thread does it."""
    thread = threading.Thread(target=pending.load)
    thread.start()
    thread.join()


def settle(log: UnifiedLog) -> int:
    """Have a log loaded with the help of another thread; how often that was needed."""
    for count in range(12):
        pending = lacking(log)
        if pending is None:
            return count
        load(pending)
        pending.release()
    raise AssertionError("the first use never ends")


def told(log: UnifiedLog) -> dict[str, object]:
    """All that a log says, and its files."""
    said: dict[str, object] = {
        "end": log.log_end_offset, "recovery": log.recovery_point, "loaded": log.is_loaded,
        "epochs": log.epochs.entries,
        "producers": {  # of some a snapshot knows the last batch alone
            id_: entry._replace(batches=entry.batches[-1:])
            for id_, entry in log.producers.entries.items()
        },
        "time": timestamp_search.first_at_or_after(log, NOW_MS + 1500),
        "latest": timestamp_search.largest(log),
        "stable": log.last_stable_offset(log.log_end_offset),
        "aborted": [aborted_across(log, each.base_offset) for each in segments_of(log)],
        "offsets": [each.offset for each in records(log)],
    }  # fmt: skip
    (again,) = log.append([batch(producer=(7, 0, BATCHES // 2))], 3, NOW_MS)
    log.close()
    files = {path.name: path.read_bytes() for path in Path(log.directory).iterdir()}
    return said | {"appended": again} | files


@pytest.mark.parametrize(
    "damage",
    [torn, without_indexes, with_short_index, with_wrong_times, without_epochs, without_snapshots,
     in_every_way],
)  # fmt: skip
def test_what_another_thread_read_is_what_a_first_use_that_may_block_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    log_end = filled(tmp_path / "aside")
    damage(tmp_path / "aside")
    shutil.copytree(tmp_path / "aside", tmp_path / "reference")
    reference = open_log(tmp_path / "reference", CONFIG, recovery_point=log_end)
    reference.load()
    log = open_log(tmp_path / "aside", CONFIG, recovery_point=log_end)
    with counted_reads(monkeypatch) as read_bytes:
        assert settle(log) >= 1
    assert read_bytes[0] < HERE_MAX_BYTES
    assert told(log) == told(reference)


@pytest.mark.parametrize("may_block", [True, False])
def test_bytes_behind_the_last_batch_cost_no_producer_whose_batches_lie_before_the_log_start(
    tmp_path: Path, may_block: bool
) -> None:
    """The snapshot at the end alone knows them."""
    log_end = filled(tmp_path)
    with last(tmp_path, ".log").open("ab") as file:
        file.write(b"torn")
    log = open_log(tmp_path, CONFIG, recovery_point=log_end, log_start_offset=log_end - 1)
    if may_block:
        log.load()
    else:
        assert settle(log) == 1
    assert log.log_end_offset == log_end
    (result,) = log.append([batch(producer=(7, 0, BATCHES // 2 - 1))], 3, NOW_MS)
    assert result.duplicate


def test_a_log_that_was_recovered_meanwhile_takes_nothing(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    torn(tmp_path)
    log = open_log(tmp_path, CONFIG, recovery_point=log_end)
    pending = lacking(log)
    assert pending is not None
    load(pending)
    (result,) = log.append([batch()], 3, NOW_MS)
    assert result.base_offset == log_end - 1
    pending.release()
    assert log.log_end_offset == log_end
    assert [each.offset for each in records(log)][-2:] == [log_end - 2, log_end - 1]


def test_nothing_is_written_for_a_log_that_was_deleted_meanwhile(tmp_path: Path) -> None:
    log_end = filled(tmp_path / "log")
    in_every_way(tmp_path / "log")
    log = open_log(tmp_path / "log", CONFIG, recovery_point=log_end)
    pending = lacking(log)
    assert pending is not None
    load(pending)
    log.abandon()
    os.rename(tmp_path / "log", tmp_path / "deleted")
    (tmp_path / "log").mkdir()
    pending.release()
    assert not list((tmp_path / "log").iterdir())


def test_the_largest_timestamp_of_a_damaged_batch_is_looked_for_by_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=1000))
    for number in range(BATCHES):
        log.append([batch(size=300, timestamp_ms=NOW_MS + number)], 0, NOW_MS)
    (path,) = tmp_path.glob("*.log")
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\1")
    with counted_reads(monkeypatch) as read_bytes:
        with pytest.raises(NotInPageCache) as raised:
            timestamp_search.largest(log, may_block=False)
        load(raised.value.pending_read)
        raised.value.pending_read.release()
        found = timestamp_search.largest(log, may_block=False)
    assert found == (BATCHES - 2, NOW_MS + BATCHES - 2, 0)
    assert read_bytes[0] < HERE_MAX_BYTES


def test_a_wrong_time_index_of_a_closed_segment_is_made_anew_by_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_end = filled(tmp_path)
    path = min(tmp_path.glob("*.timeindex"))
    path.write_bytes(path.read_bytes()[:-5])
    log = open_log(tmp_path, CONFIG, recovery_point=log_end)
    log.load()
    with counted_reads(monkeypatch) as read_bytes:
        with pytest.raises(NotInPageCache) as raised:
            timestamp_search.first_at_or_after(log, NOW_MS + 500, may_block=False)
        load(raised.value.pending_read)
        raised.value.pending_read.release()
        found = timestamp_search.first_at_or_after(log, NOW_MS + 500, may_block=False)
    assert found == (500, NOW_MS + 500, 0)
    assert read_bytes[0] < HERE_MAX_BYTES


def test_retention_of_all_of_a_log_sees_first_where_it_ends(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    torn(tmp_path)
    log = open_log(tmp_path, LogConfig(retention_ms=1), recovery_point=log_end)
    rounds = 0
    while rounds < 12:
        try:
            deleted = retention.apply(log, NOW_MS + 100_000, log_end, may_block=False)
        except NotInPageCache as error:
            load(error.pending_read)
            error.pending_read.release()
            rounds += 1
        else:
            break
    assert rounds >= 1
    assert len(deleted) == 2
    assert (log.log_start_offset, log.log_end_offset) == (log_end - 1, log_end - 1)
    (result,) = log.append([batch()], 3, NOW_MS)
    assert result.base_offset == log_end - 1


def test_retention_goes_by_what_the_first_use_left(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    path = last(tmp_path, ".log")
    start = int(path.stem) + 5
    data = path.read_bytes()
    path.write_bytes(data[:64] + bytes([data[64] ^ 1]) + data[65:-1])
    log = open_log(
        tmp_path, LogConfig(retention_ms=1), recovery_point=log_end, log_start_offset=start
    )
    assert retention.apply(log, NOW_MS + 100_000, log_end) == []
    assert (len(log.local.segments), log.log_start_offset, log.log_end_offset) == (1, start, start)


def test_indexes_made_of_what_recovery_cut_meanwhile_are_not_taken(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    with_short_index(tmp_path)
    path = last(tmp_path, ".log")
    data_bytes = bytearray(path.read_bytes())
    data_bytes[len(data_bytes) // 2] ^= 1
    path.write_bytes(data_bytes[:-1])
    log = open_log(tmp_path, CONFIG, recovery_point=log_end)
    with pytest.raises(NotInPageCache) as raised:
        log.load(may_block=False)
    load(raised.value.pending_read)
    log.load()
    known = last(tmp_path, ".index").read_bytes()
    raised.value.pending_read.release()
    assert log.log_end_offset < log_end
    assert last(tmp_path, ".index").read_bytes() == known

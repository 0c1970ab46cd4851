"""Indexes are made anew aside: where the data cannot be read to the end, nothing has changed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log.io.page_cache import NotInPageCache, PendingRead
from brokerd.log.segments import timestamp_search
from brokerd.log.segments.index_build import BackgroundIndexBuild
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log, records, reopen

CONFIG = LogConfig(segment_bytes=20_000, index_interval_bytes=1000)
BATCHES = 210


class FailingReads:
    """Of the reads in files the one with a number fails."""

    def __init__(self, patch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
        self.left = number
        self._error = error
        self._real: Callable[[int, int, int], bytes] = os.pread
        patch.setattr(os, "pread", self)

    def __call__(self, fd: int, size_bytes: int, position_bytes: int) -> bytes:
        self.left -= 1
        if self.left == 0:
            raise self._error
        return self._real(fd, size_bytes, position_bytes)


def filled(directory: Path) -> UnifiedLog:
    """A log of two segments."""
    log = open_log(directory, CONFIG)
    for number in range(BATCHES):
        log.append([batch(size=100, timestamp_ms=NOW_MS + number)], 0, NOW_MS)
    log.flush()
    return log


def spoil_index(log: UnifiedLog, base_offset: int) -> None:
    """Half an entry at the end of the index of a segment, which was closed for room."""
    (segment,) = [each for each in log.local.segments_between(0, BATCHES)
                  if each.base_offset == base_offset]  # fmt: skip
    segment.file.close()
    with open(segment.path(".index"), "ab") as file:
        file.write(b"xxx")


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))], ids=["memory", "os"]
)
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("is_active", [True, False])
def test_a_read_that_fails_while_an_index_is_made_anew_costs_no_record(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    number: int,
    is_active: bool,
) -> None:
    log = filled(tmp_path)
    base_offset = log.local.segments_between(0, BATCHES)[-1 if is_active else 0].base_offset
    wanted = base_offset + 9
    spoil_index(log, base_offset)
    size_bytes = log.size_bytes
    with monkeypatch.context() as patch:
        FailingReads(patch, number, error)
        with pytest.raises((KafkaError, MemoryError)):
            log.read(wanted, 1000, up_to=BATCHES, min_one_batch=True)
    assert log.size_bytes == size_bytes
    assert [each.offset for each in records(log, wanted, 100)] == list(range(wanted, BATCHES))
    (result,) = log.append([batch(size=100)], 0, NOW_MS)
    assert result.base_offset == BATCHES
    log = reopen(log, clean=False)
    assert [each.offset for each in records(log)] == list(range(BATCHES + 1))


def test_a_full_disk_leaves_an_index_made_anew_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path)
    spoil_index(log, 0)

    def full(fd: int, data: bytes, position_bytes: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(KafkaError):
            log.read(9, 1000, up_to=BATCHES, min_one_batch=True)
        assert [each.offset for each in records(log)] == list(range(BATCHES))
    assert timestamp_search.first_at_or_after(log, NOW_MS + 7) == (7, NOW_MS + 7, 0)


def without_blocking(log: UnifiedLog, offset: int) -> PendingRead | None:
    """What a read that may not wait needs first; None where it needs nothing."""
    try:
        found = log.read(offset, 1000, up_to=BATCHES, min_one_batch=True, may_block=False)
    except NotInPageCache as error:
        return error.pending_read
    assert found is not None
    found.release()
    return None


def needing_an_index(directory: Path, *, is_active: bool) -> tuple[UnifiedLog, int, PendingRead]:
    """A log in memory, an offset in it, and what makes anew the index that is wanted to read it."""
    log = filled(directory)
    log = reopen(log)
    log.load()
    base_offset = log.local.segments_between(0, BATCHES)[-1 if is_active else 0].base_offset
    spoil_index(log, base_offset)
    pending = without_blocking(log, base_offset + 9)
    assert isinstance(pending, BackgroundIndexBuild)
    return log, base_offset + 9, pending


@pytest.mark.parametrize("is_active", [True, False])
def test_who_may_not_wait_has_an_index_made_anew_by_another_thread(
    tmp_path: Path, is_active: bool
) -> None:
    log, offset, pending = needing_an_index(tmp_path, is_active=is_active)
    thread = Thread(target=pending.load)
    thread.start()
    thread.join()
    for number in range(BATCHES, BATCHES + 8):
        log.append([batch(size=100, timestamp_ms=NOW_MS + number)], 0, NOW_MS)
    pending.release()
    assert without_blocking(log, offset) is None
    assert [each.offset for each in records(log, offset)] == list(range(offset, BATCHES + 8))
    assert timestamp_search.largest(log) == (BATCHES + 7, NOW_MS + BATCHES + 7, 0)
    log.close()
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*index")}
    for path in tmp_path.glob("*index"):
        path.unlink()
    log = open_log(tmp_path, CONFIG, recovery_point=BATCHES + 8)
    assert [each.offset for each in records(log)] == list(range(BATCHES + 8))
    log.close()
    found = {path.name: path.read_bytes() for path in tmp_path.glob("*.index")}
    assert found == {name: made[name] for name in found}


def test_an_index_that_nobody_waited_for_is_made_by_the_next(tmp_path: Path) -> None:
    log, offset, pending = needing_an_index(tmp_path, is_active=False)
    pending.release()
    again = without_blocking(log, offset)
    assert isinstance(again, BackgroundIndexBuild)
    again.load()
    again.release()
    again.release()
    assert without_blocking(log, offset) is None


def test_an_index_of_data_that_were_cut_meanwhile_is_not_taken(tmp_path: Path) -> None:
    log, offset, pending = needing_an_index(tmp_path, is_active=True)
    pending.load()
    log.truncate_to(offset)
    for number in range(offset, offset + 3):
        log.append([batch(size=1000, timestamp_ms=NOW_MS + number)], 0, NOW_MS)
    pending.release()
    assert [each.offset for each in records(log)] == list(range(offset + 3))
    log = reopen(log)
    assert timestamp_search.largest(log) == (offset + 2, NOW_MS + offset + 2, 0)


def test_an_index_of_a_segment_that_is_gone_is_not_written(tmp_path: Path) -> None:
    log, _, pending = needing_an_index(tmp_path, is_active=False)
    pending.load()
    log.start_at(BATCHES)
    before = sorted(tmp_path.iterdir())
    pending.release()
    assert sorted(tmp_path.iterdir()) == before

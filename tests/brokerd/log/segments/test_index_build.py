"""Indexes are made anew aside: where the data cannot be read to the end, nothing has changed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log import fetch_offset_by_timestamp
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
    (segment,) = [each for each in log.local.segments.between(0, BATCHES)
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
    base_offset = log.local.segments.between(0, BATCHES)[-1 if is_active else 0].base_offset
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
    assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 7) == (7, NOW_MS + 7, 0)

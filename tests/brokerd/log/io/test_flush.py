"""One sync of a log at a time, however fast it rolls."""

import errno
import os
from pathlib import Path

import pytest

from brokerd.log.io import flush
from brokerd.log.io.flush import FlushJob
from brokerd.log.log_context import LogContext
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, Disk, batch, open_log


def rolled(directory: Path, disk: Disk, count: int) -> UnifiedLog:
    """A log of so many closed segments with one record each."""
    log = open_log(directory, context=LogContext(submit=disk.append))
    for _ in range(count):
        log.append([batch()], 0, NOW_MS)
        log.roll(NOW_MS)
    return log


def pins(log: UnifiedLog) -> int:
    return sum(each.file.pins for each in log.local.segments.between(0, log.log_end_offset + 1))


def asked_for_many(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Disk, UnifiedLog, list[int]]:
    """A sync of 19 segments is asked for, of which a job does 8; the last holds the recovery points
    that were told as reached."""
    monkeypatch.setattr(flush, "SEGMENTS_MAX", 8)
    disk = Disk()
    log = rolled(directory, disk, 20)
    disk.work()
    told: list[int] = []
    log.local.begin_flush(20, lambda: told.append(log.recovery_point))
    return disk, log, told


def test_rolls_that_the_disk_cannot_keep_up_with_share_its_next_sync(tmp_path: Path) -> None:
    disk = Disk()
    log = rolled(tmp_path, disk, 20)
    assert (len(disk.of(FlushJob)), pins(log)) == (1, 1)
    disk.work()
    assert (log.recovery_point, len(disk)) == (1, 1)
    disk.work()
    assert (log.recovery_point, len(disk), pins(log)) == (20, 0, 0)


def test_many_segments_are_synced_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, log, told = asked_for_many(tmp_path, monkeypatch)
    synced = []
    while disk:
        assert pins(log) <= 8
        disk.work()
        synced.append(log.recovery_point)
    assert synced == [9, 17, 20]
    assert told == [20]


def test_who_waits_for_a_sync_hears_that_a_part_of_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, _, told = asked_for_many(tmp_path, monkeypatch)

    def refuse(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", refuse)
    disk.work()
    assert (told, disk) == ([1], [])

"""Data is written to disk before there is too much of it, and not earlier."""

import errno
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.io import write_back
from brokerd.log.io.open_files import LogFile
from brokerd.log.io.write_back import DIRTY_SHARE
from brokerd.log.local_log import MARK_BYTES
from tests.brokerd.log.support import NOW_MS, batch, open_log

BATCH_BYTES = 1 << 20


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """(position, size) of what the system was told to begin with."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(
        write_back, "begin_write_back", lambda fd, at, size: told.append((at, size))
    )
    return told


def dirty(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(write_back, "dirty_share", lambda: share)


def test_while_little_is_dirty_the_system_is_left_alone_and_later_has_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: list[tuple[int, int]]
) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=1 << 28))
    one = bytes(batch(size=BATCH_BYTES))

    def fill() -> None:
        for _ in range(MARK_BYTES // BATCH_BYTES):
            log.append([memoryview(bytearray(one))], 0, NOW_MS)

    dirty(monkeypatch, DIRTY_SHARE)
    fill()
    assert begun == []
    dirty(monkeypatch, DIRTY_SHARE * 2)
    fill()
    fill()
    assert begun[0][0] == 0
    assert begun[0][1] > MARK_BYTES
    assert begun[1][0] == begun[0][1]
    log.close()


def test_what_was_appended_counts_also_where_the_write_back_cannot_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    log = open_log(tmp_path, LogConfig(segment_bytes=1 << 28))
    with monkeypatch.context() as patch:
        patch.setattr(LogFile, "pin", refuse)
        for _ in range(MARK_BYTES // BATCH_BYTES + 1):
            (result,) = log.append([batch(size=BATCH_BYTES)], 0, NOW_MS)
    assert log.log_end_offset == result.last_offset + 1
    log.close()


def test_the_share_of_dirty_memory_is_told_and_0_where_it_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 0 <= write_back.dirty_share() < 1
    monkeypatch.setattr(write_back, "_MEMORY", ("Dirty", "NoSuchThing"))
    assert write_back.dirty_share() == 0

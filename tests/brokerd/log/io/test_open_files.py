"""Few descriptors for many files, and none closed under a reader."""

import os
from pathlib import Path

import pytest

from brokerd.log.io.open_files import LogFile, OpenFiles


def make(directory: Path, files: OpenFiles, count: int) -> list[LogFile]:
    made = []
    for i in range(count):
        path = directory / str(i)
        path.write_bytes(b"%03d" % i)
        made.append(LogFile(files, str(path), lambda: None))
    return made


def test_no_more_files_are_open_than_allowed(tmp_path: Path) -> None:
    files = OpenFiles(limit=16)
    for i, file in enumerate(make(tmp_path, files, 100)):
        assert os.pread(file.fd(), 3, 0) == b"%03d" % i
        assert len(files) <= 16


def test_a_pinned_file_stays_open(tmp_path: Path) -> None:
    files = OpenFiles(limit=4)
    first, *others = make(tmp_path, files, 50)
    pinned = first.pin(0, 3)
    for file in others:
        file.fd()
    assert pinned.read() == b"000"
    first.close()
    os.unlink(first.path)
    assert pinned.read() == b"000"
    pinned.release()
    pinned.release()
    assert first.pins == 0
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pinned.fd)


def test_a_file_in_use_outlasts_idle_ones(tmp_path: Path) -> None:
    files = OpenFiles(limit=8)
    busy, *others = make(tmp_path, files, 40)
    fd = busy.fd()
    for file in others:
        file.fd()
        file.used = False
        assert busy.fd() == fd


def test_files_are_closed_for_the_memory_that_is_held_for_them(tmp_path: Path) -> None:
    files = OpenFiles(held_max_bytes=100)
    made = make(tmp_path, files, 9)
    for file in made:
        file.fd()
        file.hold(30)
    assert files.held_bytes <= 100
    assert made[-1].held_bytes == 30
    assert 0 < len(files) < 4
    made[-1].hold(1000)
    assert (len(files), files.held_bytes) == (1, 1000)
    made[-1].close()
    assert (len(files), files.held_bytes) == (0, 0)


def test_a_file_that_is_gone_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (file,) = make(tmp_path, OpenFiles(), 1)
    os.unlink(file.path)
    with pytest.raises(FileNotFoundError):
        file.fd()


def test_a_range_below_which_the_log_was_cut_says_so_and_no_other(tmp_path: Path) -> None:
    (file,) = make(tmp_path, OpenFiles(), 1)
    before, across = file.pin(0, 2), file.pin(1, 2)
    file.cut(2)
    assert (before.is_cut, across.is_cut) == (False, True)
    before.release()
    across.release()
    after = file.pin(1, 2)
    assert not after.is_cut
    after.release()

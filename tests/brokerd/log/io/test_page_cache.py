"""Bytes that are not in memory are reported instead of waited for, and are in memory after the
read."""

import ctypes
import mmap
import os
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.page_cache import READ_AHEAD_BYTES, NotInPageCache, is_cached, read_through
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log, reopen
from tests.support.waiting import WAIT_S, wait_until

SMALL = LogConfig(segment_bytes=1 << 20, index_interval_bytes=4096)
LARGE = LogConfig(segment_bytes=16 << 20)
RECORD_BYTES = 10_000
TRIES = 8
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_libc = ctypes.CDLL(None, use_errno=True)


def written(directory: Path, config: LogConfig, count: int) -> UnifiedLog:
    """A log opened anew after `count` batches, of which nothing is in memory."""
    log = open_log(directory, config)
    for _ in range(count):
        log.append([batch(size=RECORD_BYTES)], 0, NOW_MS)
    log = reopen(log)
    evict(directory)
    return log


def pages_in_memory(path: Path) -> int:
    """Of a file, without having any read: that is what a look by `is_cached` does."""
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        return 0
    pages = (ctypes.c_ubyte * (-(-size_bytes // PAGE_BYTES)))()
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        start = ctypes.c_char.from_buffer(mapped)
        try:
            failed = _libc.mincore(ctypes.byref(start), ctypes.c_size_t(size_bytes), pages)
            assert not failed, os.strerror(ctypes.get_errno())
        finally:
            del start  # a mapping of which somebody has the address is not taken away
    return sum(each & 1 for each in pages)


def evict(directory: Path, deadline_s: float = WAIT_S) -> None:
    """The system may keep a page for a moment (it is on a processor's list, say): it is told until
    it has forgotten all of them."""

    def forgotten() -> bool:
        for path in directory.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return not any(map(pages_in_memory, directory.iterdir()))

    wait_until(forgotten, f"no page of {directory} is in memory", deadline_s)


@pytest.fixture(autouse=True, scope="module")
def _file_system_that_can_forget(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("forgotten")
    (directory / "probe").write_bytes(b"x")
    try:
        evict(directory, deadline_s=5)
    except AssertionError:
        pytest.skip(f"the file system of {directory} keeps everything in memory")


def in_some_try(test: Callable[[Path], None]) -> Callable[[Path], None]:
    """A fast disk may answer while a look is under way, which then finds what was not in memory: a
    test that waits for cold bytes holds when it holds in one of some tries."""

    @wraps(test)
    def tried(tmp_path: Path) -> None:
        for number in range(TRIES):
            directory = tmp_path / str(number)
            directory.mkdir()
            try:
                test(directory)
            except (AssertionError, pytest.fail.Exception):
                if number == TRIES - 1:
                    raise
            else:
                break

    return tried


def finds_missing(look: Callable[[], bool], path: Path) -> bool:
    """Whether a look that should not find all in memory says so, or had what was missing read: a
    fast disk may have answered before it was over."""
    in_memory = pages_in_memory(path)
    return not look() or pages_in_memory(path) > in_memory


def read(log: UnifiedLog, offset: int, max_bytes: int, *, may_block: bool) -> FileRange:
    found = log.read(
        offset, max_bytes, up_to=log.log_end_offset, min_one_batch=True, may_block=may_block
    )
    assert found is not None
    return found


def content(found: FileRange) -> bytes:
    try:
        return found.read()
    finally:
        found.release()


def loaded(log: UnifiedLog, offset: int, max_bytes: int) -> tuple[FileRange, int]:
    """What a reader that does not block gets in the end, and how often it had to come again."""
    rounds = 0
    while True:
        try:
            return read(log, offset, max_bytes, may_block=False), rounds
        except NotInPageCache as error:
            error.pending_read.load()
            error.pending_read.release()
        if not log.is_prepared:
            log.prepare_first_use()
        rounds += 1
        assert rounds < 5


def test_a_reader_that_may_not_block_gets_the_same_only_later(tmp_path: Path) -> None:
    log = written(tmp_path, SMALL, 400)
    for offset in (0, 150, 399):
        data = content(loaded(log, offset, 100_000)[0])
        assert data == content(read(log, offset, 100_000, may_block=True))


@in_some_try
def test_each_step_of_a_cold_read_is_said_before_it_would_wait(tmp_path: Path) -> None:
    log = written(tmp_path, SMALL, 400)
    found, rounds = loaded(log, 10, 100_000)
    found.release()
    assert rounds >= 2  # the first use of the log, then what an old record takes
    found, rounds = loaded(log, 12, 100_000)
    found.release()
    assert rounds == 0


@in_some_try
def test_of_a_large_cold_range_a_piece_is_read_at_a_time(tmp_path: Path) -> None:
    log = written(tmp_path, LARGE, 900)
    log.prepare_first_use()
    evict(tmp_path)
    assert 0 < len(content(loaded(log, 0, 8 << 20)[0])) <= READ_AHEAD_BYTES
    next(tmp_path.glob("*.log")).read_bytes()
    assert len(content(loaded(log, 0, 8 << 20)[0])) > READ_AHEAD_BYTES


def test_a_batch_larger_than_a_piece_comes_whole(tmp_path: Path) -> None:
    log = open_log(tmp_path, LARGE)
    log.append([batch(size=2 << 20)], 0, NOW_MS)
    log = reopen(log)
    evict(tmp_path)
    assert len(content(loaded(log, 0, 100)[0])) == log.size_bytes > READ_AHEAD_BYTES


@in_some_try
def test_what_was_appended_lately_is_read_without_asking(tmp_path: Path) -> None:
    log = open_log(tmp_path, LARGE)
    log.append([batch(size=RECORD_BYTES)], 0, NOW_MS)
    evict(tmp_path)
    assert len(content(read(log, 0, 100, may_block=False))) == log.size_bytes
    for _ in range(1700):  # two marks of 8 MiB
        log.append([batch(size=RECORD_BYTES)], 0, NOW_MS)
    evict(tmp_path)
    assert content(read(log, log.log_end_offset - 1, 100, may_block=False))
    with pytest.raises(NotInPageCache) as cold:
        read(log, 0, 100, may_block=False)
    cold.value.pending_read.release()


@in_some_try
def test_who_finds_older_records_cold_asks_for_what_was_appended_lately_too(tmp_path: Path) -> None:
    log = open_log(tmp_path, LARGE)
    for _ in range(1700):
        log.append([batch(size=RECORD_BYTES)], 0, NOW_MS)
    evict(tmp_path)
    last = log.log_end_offset - 1
    for offset in (0, last):
        with pytest.raises(NotInPageCache) as cold:
            read(log, offset, 100, may_block=False)
        cold.value.pending_read.release()
    log.append([batch(size=RECORD_BYTES)], 0, NOW_MS)
    evict(tmp_path)
    assert content(read(log, last + 1, 100, may_block=False))


@in_some_try
def test_a_look_at_a_page_has_no_others_read_by_whoever_looks(tmp_path: Path) -> None:
    log = written(tmp_path, LARGE, 900)
    log.prepare_first_use()
    found = read(log, 0, 1, may_block=True)
    fd = found.fd
    evict(tmp_path)
    assert not is_cached(fd, 0, 1)
    wait_until(lambda: is_cached(fd, 0, 1), "the page is there")
    time.sleep(0.2)
    assert not is_cached(fd, 2 * PAGE_BYTES, 1)
    found.release()


def test_who_reads_on_finds_what_follows(tmp_path: Path) -> None:
    log = written(tmp_path, LARGE, 900)
    log.prepare_first_use()
    evict(tmp_path)
    found, _ = loaded(log, 0, 1 << 20)
    size_bytes = found.size_bytes
    found.release()
    wait_until(lambda: is_cached(found.fd, size_bytes, 1 << 20), "the next reply is there")


def test_who_reads_on_needs_nothing_of_what_was_read_before(tmp_path: Path) -> None:
    log = open_log(tmp_path, LARGE)
    for _ in range(100):
        log.append([batch(10, size=RECORD_BYTES)], 0, NOW_MS)
    log = reopen(log)
    found = read(log, 500, 1 << 20, may_block=True)
    read(log, 0, 100, may_block=True).release()  # of the headers the latest page is kept
    evict(tmp_path)
    assert len(content(found)) == found.size_bytes
    data = next(tmp_path.glob("*.log"))
    in_memory = pages_in_memory(data)
    again = read(log, 500, 1 << 20, may_block=False)
    again.release()
    assert (again.position_bytes, again.size_bytes) == (found.position_bytes, found.size_bytes)
    assert pages_in_memory(data) == in_memory


def test_the_batch_that_an_entry_points_to_is_not_waited_for(tmp_path: Path) -> None:
    log = open_log(tmp_path, LARGE)
    for size_bytes in (9000, 3800, 9000):  # the second has an entry, and a page of its own
        log.append([batch(size=size_bytes)], 0, NOW_MS)
    log = reopen(log)
    found = read(log, 2, 100, may_block=True)
    read(log, 0, 100, may_block=True).release()
    evict(tmp_path)
    assert content(found)

    def is_found() -> bool:
        try:
            read(log, 2, 100, may_block=False).release()
        except NotInPageCache as cold:
            cold.pending_read.release()
            return False
        return True

    assert finds_missing(is_found, next(tmp_path.glob("*.log")))


def test_a_small_range_is_in_memory_when_all_of_it_is(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(3 * PAGE_BYTES))
    evict(tmp_path)
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        for first in (0, 2 * PAGE_BYTES):
            os.pread(fd, 1, first)
        assert pages_in_memory(path) == 2
        assert finds_missing(lambda: is_cached(fd, 0, 3 * PAGE_BYTES), path)
        os.pread(fd, 1, PAGE_BYTES)
        assert is_cached(fd, 0, 3 * PAGE_BYTES)
    finally:
        os.close(fd)


def test_a_large_range_is_in_memory_when_no_piece_of_it_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "data"
    size_bytes = 1 << 20
    path.write_bytes(bytes(size_bytes))
    evict(tmp_path)
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        hole = range(size_bytes // 4, size_bytes // 4 + (128 << 10))
        for position in range(0, size_bytes, PAGE_BYTES):
            if position not in hole:
                os.pread(fd, 1, position)
        assert finds_missing(lambda: is_cached(fd, 0, size_bytes), path)
        read_through(fd, hole.start, hole.stop)
        assert is_cached(fd, 0, size_bytes)
        assert pages_in_memory(path) == size_bytes // PAGE_BYTES
    finally:
        os.close(fd)

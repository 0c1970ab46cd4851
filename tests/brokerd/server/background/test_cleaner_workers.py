"""Real worker processes under the event loop: started when needed, ended when idle."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.server.background.cleaner_workers import RESTS_MAX, CleanerWorkers
from tests.brokerd.log.cleaner.support import COMPACTED, SMALL, CompactedLog, keyed, last_values
from tests.brokerd.log.support import NOW_MS, TOPIC_ID


@pytest.fixture
async def workers() -> AsyncIterator[CleanerWorkers]:
    made = CleanerWorkers(1)
    yield made
    await made.stop()
    assert made.pids == []


def dirty(directory: Path, count: int = 100) -> CompactedLog:
    log = CompactedLog(directory)
    for number in range(count):
        log.append(keyed([(b"%d" % (number % 9), b"x" * 90)]))
    log.roll()
    return log


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_log_is_cleaned_and_the_process_ends_when_nothing_is_left(
    tmp_path: Path, workers: CleanerWorkers
) -> None:
    log = dirty(tmp_path)
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)
    before = last_values(log.content())
    assert workers.pids == []
    cleaner.tick(NOW_MS)
    assert (workers.free, cleaner.busy) == (0, 1)
    await until(lambda: cleaner.metrics.rounds == 1)
    assert last_values(log.content()) == before
    assert len(log.content()) == 9
    await until(lambda: workers.free == 1)
    for _ in range(RESTS_MAX):
        assert len(workers.pids) == 1
        cleaner.tick(NOW_MS)
    await until(lambda: workers.pids == [])


async def test_one_process_cleans_one_log_after_the_other(
    tmp_path: Path, workers: CleanerWorkers
) -> None:
    log = dirty(tmp_path)
    other = log.manager.create("u", 0, TOPIC_ID, COMPACTED, NOW_MS)
    for _ in range(50):
        other.append([keyed([(b"k", b"x" * 90)])], 0, NOW_MS)
    other.roll(NOW_MS)
    other.high_watermark = other.log_end_offset
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)
    pids = set()
    while cleaner.metrics.rounds < 2:
        await until(lambda: workers.free == 1)
        cleaner.tick(NOW_MS)
        await until(lambda: workers.free == 1)
        pids.update(workers.pids)
    assert len(pids) == 1


async def test_a_killed_process_is_replaced_and_the_log_cleaned_after_all(
    tmp_path: Path, workers: CleanerWorkers, caplog: pytest.LogCaptureFixture
) -> None:
    log = dirty(tmp_path)
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)
    before = last_values(log.content())
    cleaner.tick(NOW_MS)
    await until(lambda: bool(workers.pids))
    (pid,) = workers.pids
    os.kill(pid, signal.SIGKILL)
    await until(lambda: cleaner.metrics.worker_deaths == 1)
    (told,) = caplog.messages
    assert told == f"a compaction worker, process {pid}, ended with -9 in the middle of a job"
    cleaner.tick(NOW_MS)
    await until(lambda: cleaner.metrics.rounds == 1)
    assert last_values(log.content()) == before
    assert cleaner.uncleanable == {}


async def cleaned_once(
    tmp_path: Path, workers: CleanerWorkers
) -> tuple[CompactedLog, LogCleanerManager]:
    """A log that was cleaned, by a process that rests now."""
    log = dirty(tmp_path)
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)
    cleaner.tick(NOW_MS)
    await until(lambda: cleaner.metrics.rounds == 1 and workers.free == 1)
    return log, cleaner


def dirty_again(log: CompactedLog) -> None:
    for number in range(100):
        log.append(keyed([(b"%d" % (number % 9), b"y" * 90)]))
    log.roll()


async def test_a_process_that_rests_takes_the_next_job(
    tmp_path: Path, workers: CleanerWorkers
) -> None:
    log, cleaner = await cleaned_once(tmp_path, workers)
    pids = workers.pids
    for _ in range(2):
        for _ in range(RESTS_MAX - 1):
            cleaner.tick(NOW_MS)
        dirty_again(log)
        cleaner.tick(NOW_MS)
        await until(lambda: not cleaner.busy and workers.free == 1)
    assert cleaner.metrics.rounds == 3
    assert workers.pids == pids


async def test_a_process_killed_while_it_rests_is_not_missed(
    tmp_path: Path, workers: CleanerWorkers
) -> None:
    log, cleaner = await cleaned_once(tmp_path, workers)
    (pid,) = workers.pids
    os.kill(pid, signal.SIGKILL)
    await until(lambda: workers._idle[0].returncode is not None)
    dirty_again(log)
    cleaner.tick(NOW_MS)
    await until(lambda: cleaner.metrics.rounds == 2)
    assert cleaner.metrics.worker_deaths == 0
    assert pid not in workers.pids


ODD = [b"{}", b"[]", b"3", b'{"kind": "other"}', b'{"kind": "group", "bases": []}',
       b'{"kind": "group", "bases": [], "size_bytes": 1}']  # fmt: skip


@pytest.mark.parametrize("said", ODD)
async def test_a_process_that_says_something_odd_counts_as_dead(
    tmp_path: Path, workers: CleanerWorkers, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    log = dirty(tmp_path)
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)

    async def start() -> Process:
        process = await create_subprocess_exec("sh", "-c", 'echo "$1"; exec cat', "sh", said,
                                               stdin=PIPE, stdout=PIPE)  # fmt: skip
        workers._processes.add(process)
        return process

    monkeypatch.setattr(workers, "_start", start)
    cleaner.tick(NOW_MS)
    await until(lambda: cleaner.metrics.worker_deaths == 1)
    assert (cleaner.busy, workers.free, workers.pids) == (0, 1, [])


async def test_stopping_ends_a_worker_in_the_middle_of_a_job(tmp_path: Path) -> None:
    workers = CleanerWorkers(1)
    log = dirty(tmp_path)
    cleaner = LogCleanerManager(log.manager, workers, lambda: NOW_MS, 0, SMALL)
    cleaner.tick(NOW_MS)
    await until(lambda: bool(workers.pids))
    (pid,) = workers.pids
    await workers.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

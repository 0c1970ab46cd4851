"""One try at a Fetch: how many files it holds, and what of it is worth an answer at once."""

from pathlib import Path
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.log.segments import log_segments
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.fetch_request import READ_COMMITTED, FetchPartition, FetchRequest
from brokerd.replication.partition import Partition
from brokerd.server.fetch import read_from_log as attempt_module
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.fetch.read_from_log import FetchAttempt
from tests.brokerd.log.support import NOW_MS, batch, open_log, reopen
from tests.brokerd.log.test_transactions import data, plain
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led

COUNT = 5


class Bench:
    """Logs of an old batch whose leader is here."""

    def __init__(self, directory: Path) -> None:
        self.logs = [self._log(directory / str(number)) for number in range(COUNT)]
        self.partitions = [Partition("t", 0, 1, log) for log in self.logs]
        for partition in self.partitions:
            partition.apply(state(1, 1, replicas=(1,), isr=(1,)), NOW_MS)
        self.unknown: set[int] = set()

    def _get(self, _topic: str, index: int) -> Partition | None:
        return None if index in self.unknown else self.partitions[index]

    @staticmethod
    def _log(directory: Path) -> UnifiedLog:
        directory.mkdir()
        log = open_log(directory)
        log.append([batch()], 0, NOW_MS)
        log = reopen(log)
        log.prepare_first_use()
        return log

    def attempt(
        self, *, offset: int = 0, at_a_time: int = COUNT, min_bytes: int = 1, isolation: int = 0,
        **more: Any,
    ) -> FetchAttempt:  # fmt: skip
        wanted = [FetchPartition("t", number, offset, 1 << 20) for number in range(COUNT)]
        request = FetchRequest(-1, 0, min_bytes, 1 << 20, isolation, 0, -1, wanted, [])
        fetch = FetchSessionCache(1, lambda: 1).begin(request, False, NOW_MS)
        attempt = FetchAttempt(led(self._get), 1 << 20, request, fetch, **more)
        for start in range(0, COUNT, at_a_time):
            attempt.read(fetch.next_partitions()[start : start + at_a_time])
        attempt.end()
        return attempt

    @property
    def pins(self) -> int:
        return sum(segment.file.pins for log in self.logs for segment in log._segments)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("at_a_time", [1, COUNT])
def test_no_more_partitions_have_records_than_files_may_be_held(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    monkeypatch.setattr(attempt_module, "FILES_MAX", 2)
    attempt = bench.attempt(at_a_time=at_a_time)
    assert [reply.records is not None for reply in attempt.replies] == [True] * 2 + [False] * 3
    assert [(reply.error, reply.high_watermark) for reply in attempt.replies] == [(0, 1)] * COUNT
    assert bench.pins == 2
    attempt.release()
    assert bench.pins == 0


def test_nor_are_more_read_from_the_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "FILES_MAX", 2)
    monkeypatch.setattr(log_segments, "is_cached", lambda *_: False)
    attempt = bench.attempt(may_block=False)
    assert (len(attempt.pending_reads), len(attempt.replies), bench.pins) == (2, 3, 2)
    for pending in attempt.pending_reads:
        pending.release()


@pytest.mark.parametrize("at_a_time", [1, COUNT])
def test_what_is_unknown_is_told_last_and_is_not_worth_an_answer_at_once(
    bench: Bench, at_a_time: int
) -> None:
    bench.unknown = {0, 2}
    attempt = bench.attempt(offset=1, at_a_time=at_a_time)
    assert [reply.partition for reply in attempt.replies] == [1, 3, 4, 0, 2]
    assert [reply.aborted for reply in attempt.replies] == [None] * 3 + [()] * 2
    assert not attempt.is_enough


def test_what_has_become_unknown_since_is_worth_an_answer(bench: Bench) -> None:
    bench.unknown = {0}
    known = bench.attempt(offset=1).unknown
    bench.unknown = {3}
    attempt = bench.attempt(offset=1, unknown=known)
    assert attempt.is_enough
    assert [reply.error for reply in attempt.replies if reply.partition == 3] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ]


def test_what_is_cut_for_its_files_or_its_first_read_is_not_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for partition in bench.partitions:
        partition.append([batch(size=5_000)], NOW_MS)
    sizes = {reply.records.size_bytes for reply in bench.attempt().replies}
    (each,) = sizes
    assert not bench.attempt(min_bytes=COUNT * each + 1).is_enough
    monkeypatch.setattr(log_segments, "READ_AHEAD_BYTES", 500)
    monkeypatch.setattr(log_segments, "is_cached", lambda _fd, _at, size_bytes: size_bytes < 500)
    attempt = bench.attempt(min_bytes=COUNT * each, may_block=False)
    assert sum(reply.records.size_bytes for reply in attempt.replies) < COUNT * 500
    assert attempt.is_enough
    monkeypatch.undo()
    monkeypatch.setattr(attempt_module, "FILES_MAX", 2)
    assert bench.attempt(min_bytes=COUNT * each * 9).is_enough


def test_what_is_open_yet_is_waited_for_where_committed_records_are_read(bench: Bench) -> None:
    one = sum(reply.records.size_bytes for reply in bench.attempt().replies)
    for log in bench.logs:
        data(log, 7)
        plain(log)
    for partition in bench.partitions:
        partition.append([batch()], NOW_MS)
    assert bench.attempt(min_bytes=one + 1).is_enough
    assert not bench.attempt(min_bytes=one + 1, isolation=READ_COMMITTED).is_enough
    assert bench.attempt(min_bytes=one, isolation=READ_COMMITTED).is_enough
    assert not bench.attempt(offset=2, isolation=READ_COMMITTED).is_enough
    for log in bench.logs:
        log.roll(NOW_MS)
    for partition in bench.partitions:
        partition.append([batch()], NOW_MS)
    assert bench.attempt(min_bytes=1 << 19).is_enough
    assert not bench.attempt(min_bytes=1 << 19, isolation=READ_COMMITTED).is_enough


def test_what_has_come_since_is_seen(bench: Bench) -> None:
    bench.unknown = {0}
    attempt = bench.attempt(offset=1)
    assert not attempt.is_enough
    assert not attempt.has_moved
    bench.partitions[4].append([batch()], NOW_MS)
    assert attempt.has_moved

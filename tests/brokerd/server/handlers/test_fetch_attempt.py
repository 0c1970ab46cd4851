"""One try at a Fetch: how many files it holds."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.log import segment_list
from brokerd.log.partition_log import PartitionLog
from brokerd.protocol.fetch_request import FetchPartition
from brokerd.replication.partition import Partition
from brokerd.server.handlers import fetch
from tests.brokerd.log.support import NOW_MS, batch, open_log, reopen
from tests.brokerd.replication.support import state

COUNT = 5


class Bench:
    """Logs of an old batch whose leader is here."""

    def __init__(self, directory: Path) -> None:
        self.logs = [self._log(directory / str(number)) for number in range(COUNT)]
        self.partitions = [Partition("t", 0, 1, log) for log in self.logs]
        for partition in self.partitions:
            partition.apply(state(1, 1, replicas=(1,), isr=(1,)), NOW_MS)
        self.broker: Any = SimpleNamespace(
            config=SimpleNamespace(fetch_max_bytes=1 << 20),
            leader_of=lambda topic, index, epoch: self.partitions[index],
        )

    @staticmethod
    def _log(directory: Path) -> PartitionLog:
        directory.mkdir()
        log = open_log(directory)
        log.append([batch()], 0, NOW_MS)
        log = reopen(log)
        log.load()
        return log

    def attempt(self, *, patient: bool = True) -> Any:
        wanted = [FetchPartition("t", number, 0, 1 << 20) for number in range(COUNT)]
        request: Any = SimpleNamespace(isolation_level=0, max_bytes=1 << 20, min_bytes=1)
        return fetch._Attempt(self.broker, request, wanted, patient=patient)

    @property
    def pins(self) -> int:
        return sum(segment.file.pins for log in self.logs for segment in log._segments)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_no_more_partitions_have_records_than_files_may_be_held(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "FILES_MAX", 2)
    attempt = bench.attempt()
    assert [reply.records is not None for reply in attempt.replies] == [True] * 2 + [False] * 3
    assert [(reply.error, reply.high_watermark) for reply in attempt.replies] == [(0, 1)] * COUNT
    assert bench.pins == 2
    attempt.release()
    assert bench.pins == 0


def test_nor_are_more_read_from_the_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "FILES_MAX", 2)
    monkeypatch.setattr(segment_list, "is_cached", lambda *_: False)
    attempt = bench.attempt(patient=False)
    assert (len(attempt.cold), len(attempt.replies), bench.pins) == (2, 3, 2)
    for spot in attempt.cold:
        spot.release()

"""The writes of a group coordinator: nobody waits for one that could not be made."""

from collections.abc import Sequence
from typing import cast

import pytest

from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupValue,
    OffsetRecord,
    OffsetValue,
)
from brokerd.coordinator.group.messages import Write
from brokerd.errors import ErrorCode
from brokerd.log.assign_offsets import AppendResult
from brokerd.protocol.records import read_header
from brokerd.replication.partition import Partition
from brokerd.server.coordinator_runtime.partition_writer import PartitionWriter
from brokerd.server.requests.ack_watchers import AckWatchers

NOW_MS = 1_700_000_000_000


class Log:
    """Stands for a partition: takes batches, or raises what it is told to."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.high_watermark = 0
        self.is_under_min_isr = False
        self._refusal = refusal

    def append(self, batches: Sequence[bytearray], now_ms: int) -> list[AppendResult]:
        if self._refusal is not None:
            raise self._refusal
        results = []
        for batch in batches:
            results.append(AppendResult(self.high_watermark, -1, -1, None, False))
            self.high_watermark += read_header(batch).count
        return results


class Outcomes:
    """Takes down what became of each write."""

    def __init__(self) -> None:
        self.outcomes: dict[int, ErrorCode] = {}

    def write_done(self, write_id: int) -> None:
        self.outcomes[write_id] = ErrorCode.NONE

    def write_failed(self, write_id: int, error: ErrorCode) -> None:
        self.outcomes[write_id] = error

    write_timed_out = write_failed


def commit(write_id: int) -> Write:
    return Write(write_id, (OffsetRecord("g", "t", 0, OffsetValue(7, -1, "", NOW_MS)),))


def group(write_id: int, protocol_type: str) -> Write:
    return Write(write_id, (GroupRecord("g", GroupValue(protocol_type, 1, None, None, -1, ())),))


def append(log: Log, *writes: Write) -> dict[int, ErrorCode]:
    written = Outcomes()
    group_writes = PartitionWriter(cast(Partition, log), AckWatchers(), 5_000, written)
    group_writes.add(list(writes))
    group_writes.append_queued(NOW_MS)
    return written.outcomes


def test_a_write_that_no_record_can_hold_fails_alone() -> None:
    too_long = group(2, "x" * 40_000)
    assert append(Log(), commit(1), too_long, commit(3)) == {
        1: ErrorCode.NONE, 2: ErrorCode.UNKNOWN_SERVER_ERROR, 3: ErrorCode.NONE,
    }  # fmt: skip
    assert append(Log(), too_long) == {2: ErrorCode.UNKNOWN_SERVER_ERROR}


def test_an_append_that_nobody_expected_to_fail_is_answered_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcomes = append(Log(OverflowError("an offset past its place")), commit(1), commit(2))
    assert outcomes == dict.fromkeys((1, 2), ErrorCode.UNKNOWN_SERVER_ERROR)
    assert "an offset past its place" in caplog.text

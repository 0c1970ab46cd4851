"""Transactions in a log: where it is stable to, who was aborted, and both after a restart.

The batches are what Kafka's coordinator and producers write; brokerd gets them as a follower does.
"""

import errno
import struct
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.cleaner.cleanable_offsets import aborted_across
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.segments.log_segments import LogSegments
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    encode_batch,
    iter_batches,
)
from tests.brokerd.log.support import NOW_MS, open_log, segments_of

ABORT, COMMIT = 0, 1


def data(log: UnifiedLog, producer_id: int, count: int = 1, *, sequence: int = 0) -> int:
    """Appends a transactional batch; its first offset."""
    records = [Record(0, NOW_MS, b"k", bytes(10)) for _ in range(count)]
    return put(log, encode_batch(
        records, base_offset=log.log_end_offset, leader_epoch=0, producer_id=producer_id,
        producer_epoch=0, base_sequence=sequence, attributes=TRANSACTIONAL,
    ))  # fmt: skip


def end(log: UnifiedLog, producer_id: int, kind: int, *, epoch: int = 0) -> int:
    """Appends a marker; its offset."""
    record = Record(0, NOW_MS, struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 7))
    return put(log, encode_batch(
        [record], base_offset=log.log_end_offset, leader_epoch=0, producer_id=producer_id,
        producer_epoch=epoch, base_sequence=-1, attributes=TRANSACTIONAL | CONTROL,
    ))  # fmt: skip


def plain(log: UnifiedLog) -> int:
    return put(log, encode_batch(
        [Record(0, NOW_MS, b"k", b"v")], base_offset=log.log_end_offset, leader_epoch=0
    ))  # fmt: skip


def put(log: UnifiedLog, batch: bytearray) -> int:
    offset = log.log_end_offset
    log.append_replicated(list(iter_batches(memoryview(batch))), NOW_MS)
    return offset


def stable(log: UnifiedLog) -> int:
    return log.last_stable_offset(log.log_end_offset)


def aborted(log: UnifiedLog, offset: int, max_bytes: int = 1 << 20) -> list[tuple[int, int]]:
    up_to = stable(log)
    found = log.read(offset, max_bytes, up_to=up_to, min_one_batch=True)
    assert found is not None
    try:
        return log.aborted_transactions(offset, found)
    finally:
        found.release()


def reopened(log: UnifiedLog, *, clean: bool = True) -> UnifiedLog:
    end_offset = log.log_end_offset
    if clean:
        log.close()
    return open_log(Path(log.directory), clean=clean, recovery_point=end_offset if clean else 0)


def test_a_log_is_stable_up_to_its_first_open_transaction(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    plain(log)
    assert stable(log) == 1
    assert data(log, 5) == 1
    assert data(log, 6) == 2
    plain(log)
    assert stable(log) == 1
    end(log, 5, COMMIT)
    assert stable(log) == 2
    end(log, 6, ABORT)
    assert stable(log) == log.log_end_offset == 6


def test_a_transaction_is_decided_when_its_marker_is_below_the_high_watermark(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    data(log, 5)
    marker = end(log, 5, COMMIT)
    assert log.last_stable_offset(marker) == 0
    assert log.last_stable_offset(marker + 1) == marker + 1


def test_a_stable_offset_is_never_before_the_log_start(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    data(log, 5, 4)
    log.delete_records_before(3)
    assert log.last_stable_offset(4) == 3


def test_a_marker_without_a_transaction_and_other_control_batches_change_nothing(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    end(log, 5, ABORT)
    data(log, 6)
    end(log, 6, 2)  # a leader change, as Raft writes it
    assert stable(log) == 1
    assert not (tmp_path / f"{0:020d}.txnindex").exists()


def test_aborted_transactions_are_told_for_what_is_read(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    data(log, 5, 2)  # 0, 1
    data(log, 6, 2)  # 2, 3
    end(log, 5, ABORT)  # 4
    end(log, 6, COMMIT)  # 5
    data(log, 5, 1, sequence=2)  # 6
    end(log, 5, ABORT)  # 7
    assert aborted(log, 0) == [(5, 0), (5, 6)]
    assert aborted(log, 3) == [(5, 0), (5, 6)]
    assert aborted(log, 5) == [(5, 6)]
    entries = transaction_index.read(f"{tmp_path}/{0:020d}.txnindex")
    assert entries == [AbortedTxn(5, 0, 4, 2), AbortedTxn(5, 6, 7, 8)]


def test_an_entry_has_34_bytes_as_kafka_writes_them(tmp_path: Path) -> None:
    path = str(tmp_path / "x.txnindex")
    transaction_index.write(path, [AbortedTxn(5, 2, 4, 3)], 0)
    assert Path(path).read_bytes() == struct.pack(">hqqqq", 0, 5, 2, 4, 3)
    assert transaction_index.read(path) == [AbortedTxn(5, 2, 4, 3)]
    with open(path, "ab") as file:
        file.write(b"half of one")
    with pytest.raises(CorruptIndexError):
        transaction_index.read(path)
    transaction_index.write(path, [AbortedTxn(5, 2, 4, 3), AbortedTxn(6, 5, 7, 8)], 1)
    assert len(Path(path).read_bytes()) == 68
    assert transaction_index.read(path)[1].producer_id == 6


def test_a_transaction_that_ends_in_a_later_segment_is_told_in_the_first(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=300))
    data(log, 5)
    for _ in range(10):
        plain(log)
    end(log, 5, ABORT)
    assert len(segments_of(log)) > 2
    assert aborted(log, 0, 1) == [(5, 0)]
    plain(log)
    assert aborted(log, log.log_end_offset - 1) == []


def test_one_that_was_aborted_in_a_segment_behind_the_stable_offset_is_told(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    data(log, 5)
    plain(log)
    data(log, 6)  # stays open, and the log stable up to here
    log.roll(NOW_MS)
    end(log, 5, ABORT)
    for _ in range(3):
        plain(log)
        log.roll(NOW_MS)
    assert stable(log) == 2
    assert aborted(log, 0) == [(5, 0)]
    log = reopened(log)
    assert aborted(log, 0) == [(5, 0)]
    end(log, 6, ABORT)
    assert aborted(log, 0) == [(5, 0), (6, 2)]


def test_what_was_aborted_behind_the_stable_offset_is_told_where_no_index_entry_lies_between(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    plain(log)
    data(log, 5)  # stays open, and the log stable up to here
    data(log, 6)
    end(log, 6, ABORT)
    assert stable(log) == 1
    assert aborted(log, 0) == [(6, 2)], "as by Kafka, whose list goes up to the next entry"


def test_a_small_read_is_not_told_of_what_was_aborted_far_behind_it(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=1))
    for number in range(50):
        data(log, 5, sequence=number)
        end(log, 5, ABORT)
    assert len(aborted(log, 0)) == 50
    assert len(aborted(log, 0, 1)) <= 2


@pytest.mark.parametrize("clean", [True, False])
def test_open_and_aborted_transactions_are_known_after_a_restart(
    tmp_path: Path, clean: bool
) -> None:
    log = open_log(tmp_path)
    data(log, 5, 2)
    end(log, 5, ABORT)
    first_open = data(log, 6)
    log = reopened(log, clean=clean)
    assert stable(log) == first_open == 3
    assert aborted(log, 0) == [(5, 0)]
    assert log.producers.entries[6].txn_first_offset == first_open
    assert log.producers.entries[5].coordinator_epoch == 7
    end(log, 6, ABORT)
    assert aborted(log, 0) == [(5, 0), (6, 3)]


def test_recovery_finds_aborted_transactions_again_whose_index_was_lost(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=300))
    data(log, 5)
    for _ in range(6):
        plain(log)
    end(log, 5, ABORT)
    data(log, 6)
    end(log, 6, ABORT)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.txnindex")}
    assert before
    for path in tmp_path.glob("*.txnindex"):
        path.write_bytes(b"nonsense" * 5)
    log = reopened(log, clean=False)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.txnindex")} == before
    assert aborted(log, 0, 1) == [(5, 0)]


def test_an_index_that_is_made_anew_costs_no_producer_whose_batches_lie_before_the_log_start(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    data(log, 5)
    end(log, 5, ABORT)
    plain(log)
    log.close()
    (tmp_path / f"{0:020d}.txnindex").write_bytes(b"no index")
    log = open_log(tmp_path, recovery_point=3, log_start_offset=2)
    aborted_across(log, 0)
    assert list(log.producers.entries) == [5]


def test_a_cut_log_forgets_the_markers_that_are_cut_off(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    data(log, 5)
    end(log, 5, ABORT)
    data(log, 6)
    marker = end(log, 6, ABORT)
    log.truncate_to(marker)
    assert stable(log) == 2
    assert aborted(log, 0) == [(5, 0)]
    assert len((tmp_path / f"{0:020d}.txnindex").read_bytes()) == 34
    log.truncate_to(1)
    assert not (tmp_path / f"{0:020d}.txnindex").exists()


def test_the_index_goes_with_its_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=150, retention_ms=-1))
    data(log, 5)
    end(log, 5, ABORT)
    for _ in range(4):
        plain(log)
    assert list(tmp_path.glob("*.txnindex"))
    log.delete_records_before(4)
    delete_old_segments(log, NOW_MS, log.log_end_offset)
    assert not list(tmp_path.glob("*.txnindex"))


@pytest.mark.parametrize("again", [OSError(errno.EIO, "Input/output error"), CorruptIndexError()])
def test_what_fails_after_the_index_was_mended_is_said_as_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: Exception
) -> None:
    log = open_log(tmp_path)
    data(log, 5)
    end(log, 5, ABORT)
    errors = [CorruptIndexError("damaged"), again]

    def fail(*_: object) -> None:
        raise errors.pop(0)

    monkeypatch.setattr(LogSegments, "aborted_in", fail)
    with pytest.raises(KafkaError) as caught:
        aborted(log, 0)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert not errors

"""Idempotent producers: duplicates, gaps, epochs, and all of it over a restart."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode
from brokerd.log import producer_snapshot, producer_state_manager
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.producer_state_manager import (
    BATCHES_KEPT,
    SEQUENCE_MAX,
    ProducerBatch,
    ProducerEntry,
    ProducerStateManager,
    last_sequence_of,
)
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log, records, reopen, segments_of


def send(log: UnifiedLog, sequence: int, count: int = 2, epoch: int = 0) -> AppendResult:
    (result,) = log.append([batch(count, producer=(9, epoch, sequence))], 0, NOW_MS)
    return result


def test_a_repeated_batch_is_stored_once_and_answers_its_old_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    first = send(log, 0)
    again = send(log, 0)
    assert (again.base_offset, again.last_offset, again.error) == (0, 1, None)
    assert again.duplicate
    assert not first.duplicate
    assert log.log_end_offset == 2


def test_the_last_five_batches_are_known_again(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for i in range(8):
        send(log, 2 * i)
    for i in range(8 - BATCHES_KEPT, 8):
        assert send(log, 2 * i).base_offset == 2 * i
    assert send(log, 4).error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_is_refused_and_the_missing_batch_still_taken(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    refused = send(log, 4)
    assert refused.error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused.base_offset == -1
    assert send(log, 2).base_offset == 2
    assert send(log, 4).base_offset == 4


def test_of_too_many_producers_those_go_that_wrote_longest_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever time their records bear: it is the client's."""
    monkeypatch.setattr(producer_state_manager, "PRODUCERS_MAX", 100)
    log = open_log(tmp_path)
    for number in range(1_000):
        for producer_id in (number, 5_000):
            sequence = 2 * number if producer_id == 5_000 else 0
            one = batch(
                2, producer=(producer_id, 0, sequence), timestamp_ms=NOW_MS - number * 1_000
            )
            (result,) = log.append([one], 0, NOW_MS)
            assert result.error is None
        assert len(log.producers.entries) <= 100
    assert 5_000 in log.producers.entries
    assert {*range(990, 1_000)} <= log.producers.entries.keys()
    log = reopen(log)
    assert len(log.producers.entries) <= 100
    assert 5_000 in log.producers.entries


def test_the_batches_of_one_append_follow_each_other(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    group = [batch(2, producer=(9, 0, s)) for s in (0, 2, 2, 6, 4)] + [batch()]
    results = log.append(group, 0, NOW_MS)
    assert [(r.base_offset, r.duplicate, r.error) for r in results] == [
        (0, False, None),
        (2, False, None),
        (2, True, None),
        (-1, False, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (4, False, None),
        (6, False, None),
    ]
    assert [record.offset for record in records(log)] == list(range(7))


def test_an_older_epoch_is_fenced_and_a_newer_one_starts_at_zero(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0, epoch=1)
    assert send(log, 2, epoch=0).error is ErrorCode.INVALID_PRODUCER_EPOCH
    assert send(log, 2, epoch=2).error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 0, epoch=2).base_offset == 2


def test_an_unknown_producer_may_start_anywhere(tmp_path: Path) -> None:
    assert send(open_log(tmp_path), 1000).error is None


def test_sequence_numbers_wrap_to_zero(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, SEQUENCE_MAX - 1)
    assert send(log, 0).base_offset == 2
    assert last_sequence_of(SEQUENCE_MAX, 2) == 1
    send(log, 2, count=1)
    assert send(log, SEQUENCE_MAX - 1).duplicate


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("segment_bytes", [1000, 1 << 20])
def test_the_state_survives_a_restart(tmp_path: Path, clean: bool, segment_bytes: int) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=segment_bytes))
    for i in range(20):
        send(log, 2 * i)
    log = reopen(log, clean=clean)
    again = send(log, 38)
    assert (again.base_offset, again.duplicate) == (38, True)
    assert send(log, 50).error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 40).base_offset == 40


def test_a_damaged_snapshot_is_replaced_by_what_the_log_says(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for i in range(5):
        send(log, 2 * i)
    log.close()
    (snapshot,) = tmp_path.glob("*.snapshot")
    snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"\x00")
    log = open_log(tmp_path, recovery_point=10)
    assert send(log, 8).duplicate
    assert not snapshot.exists()


def test_snapshots_stay_only_for_segments_and_the_end(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=1000))
    for i in range(20):
        send(log, 2 * i)
    for _ in range(3):
        log = reopen(log)
        log.append([batch()], 0, NOW_MS)
    log.close()
    found = {int(path.stem) for path in tmp_path.glob("*.snapshot")}
    assert found == {s.base_offset for s in segments_of(log)} - {0} | {log.log_end_offset}


def test_idle_producers_are_forgotten(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log.remove_expired_producers(NOW_MS)
    assert send(log, 4).error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.remove_expired_producers(NOW_MS + 1000)
    assert send(log, 4).error is None


def test_idle_producers_of_a_snapshot_are_not_taken_up_again(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log = reopen(log)
    log.remove_expired_producers(NOW_MS + 1000)
    assert send(log, 4).error is None


def test_after_a_marker_alone_the_first_batch_begins_at_0() -> None:
    state = ProducerStateManager({1: ProducerEntry(3, NOW_MS, ())})
    for sequence, error in ((5, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), (0, None)):
        one = ProducerBatch(sequence, sequence, 0, 0, NOW_MS)
        assert state.stage({}, 1, 3, one) is error


entries = st.builds(
    lambda epoch, sequence, offset, delta, at_ms: ProducerEntry(
        epoch,
        at_ms,
        (ProducerBatch(sequence - delta, sequence, offset - delta, offset, at_ms),),
    ),
    st.integers(0, 2**15 - 1),
    st.integers(1000, SEQUENCE_MAX),
    st.integers(1000, 2**62),
    st.integers(0, 1000),
    st.integers(0, 2**41),
)


@given(st.dictionaries(st.integers(0, 2**62), entries, max_size=10))
def test_a_snapshot_comes_back(state: dict[int, ProducerEntry]) -> None:
    assert producer_snapshot.decode(producer_snapshot.encode(state)) == state


@given(st.binary(max_size=100))
def test_a_snapshot_of_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(producer_snapshot.CorruptSnapshotError):
        producer_snapshot.decode(data)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_whatever_is_sent_what_is_accepted_is_in_order(sequences: list[int]) -> None:
    state = ProducerStateManager()
    accepted = []
    for offset, sequence in enumerate(sequences):
        staged: dict[int, ProducerEntry] = {}
        one = ProducerBatch(sequence, sequence, offset, offset, NOW_MS)
        if state.stage(staged, 1, 0, one) is None:
            accepted.append(sequence)
            state.commit(staged)
    assert all(b == a + 1 for a, b in pairwise(accepted))

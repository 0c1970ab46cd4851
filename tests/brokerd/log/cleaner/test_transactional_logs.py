"""Transactions in logs that are compacted: who reads committed records learns nothing else."""

import random
from pathlib import Path

import pytest

from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.transaction_index import AbortedTxn
from tests.brokerd.log.cleaner.support import (
    ABORT,
    COMMIT,
    COMPACTED,
    CompactedLog,
    keyed,
    last_values,
)
from tests.brokerd.log.support import headers, reopen


def fill(log: CompactedLog, seed: int) -> None:
    """Producers that interleave, some of whose transactions are aborted; 10 to 14 of them."""
    chance = random.Random(seed)
    sequences = dict.fromkeys(range(10, 15), 0)
    opened: set[int] = set()
    for number in range(400):
        producer = chance.choice(list(sequences))
        if producer in opened and chance.random() < 0.3:
            log.end(producer, chance.choice([ABORT, COMMIT]))
            opened.remove(producer)
        elif chance.random() < 0.2:
            log.append(keyed([(b"%d" % chance.randrange(12), b"plain-%d" % number)]))
        else:
            key = b"%d" % chance.randrange(12)
            value = None if chance.random() < 0.1 else b"%d-" % number + b"x" * 40
            log.transactional(producer, (key, value), sequence=sequences[producer])
            sequences[producer] += 1
            opened.add(producer)
    for producer in opened:
        log.end(producer, chance.choice([ABORT, COMMIT]))


def indexed(log: CompactedLog) -> list[AbortedTxn]:
    paths = sorted(Path(log.log.directory).glob("*.txnindex"))
    return [each for path in paths for each in transaction_index.read(str(path))]


def clean_from_the_start(log: CompactedLog) -> None:
    next(iter(log.cleaner._known.values())).checkpoint = 0
    assert not log.clean().failed


@pytest.mark.parametrize("seed", range(12))
def test_who_reads_committed_records_learns_the_same(tmp_path: Path, seed: int) -> None:
    log = CompactedLog(tmp_path)
    fill(log, seed)
    log.roll()
    before = log.read(committed=True)
    for _ in range(3):  # the second meets markers without data, the third finds them due
        assert not log.clean().failed
        after = log.read(committed=True)
        assert last_values(after) == last_values(before)
        assert set(log.content()) >= set(after)
        assert len(after) == len({key for _, key, _ in after})
        assert log.log.last_stable_offset(log.log.high_watermark) == log.log.high_watermark
        clean_from_the_start(log)
        log.now_ms += COMPACTED.delete_retention_ms + 1
    assert log.read(committed=False) == log.read(committed=True)
    for clean in (True, False):
        again = reopen(log.log, clean=clean)
        assert again.last_stable_offset(again.log_end_offset) == again.log_end_offset
        log.log = again
        log.log.high_watermark = again.log_end_offset
        assert last_values(log.read(committed=True)) == last_values(before)


def test_data_whose_abort_marker_is_in_a_later_segment_replaces_nothing(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    log.append(keyed([(b"k", b"good")]))
    log.transactional(7, (b"k", b"aborted"))
    log.transactional(7, (b"k", b"aborted"), sequence=1)
    log.roll()
    log.end(7, ABORT)
    assert not log.clean().failed
    assert log.workers.done[-1].end_offset == 3
    assert log.read(committed=True) == [(0, b"k", b"good")]
    assert log.read(committed=False) == [(0, b"k", b"good")]


def test_a_marker_stays_until_a_cleaning_met_no_data_and_then_its_delay_long(
    tmp_path: Path,
) -> None:
    log = CompactedLog(tmp_path)
    log.transactional(7, (b"k", b"aborted"))
    marker = log.end(7, ABORT)
    log.transactional(8, (b"other", b"aborted"))  # so that offsets below and behind are kept apart
    log.end(8, ABORT)
    log.append(keyed([(b"k", b"v")]))
    log.roll()

    def markers() -> list[tuple[int, bool]]:
        return [
            (each.base_offset, each.attributes & 0x40 != 0)
            for each in headers(log.log)
            if each.is_control and each.producer_id == 7
        ]

    log.clean()
    assert markers() == [(marker, False)]
    assert AbortedTxn(7, 0, marker, 2) in indexed(log)
    log.log.producers.entries.clear()  # they wrote nothing for long: no empty batch stays for them
    for expected in ([(marker, False)], [(marker, True)]):
        clean_from_the_start(log)
        assert markers() == expected
    assert indexed(log) == []
    log.now_ms += COMPACTED.delete_retention_ms + 1
    clean_from_the_start(log)
    assert markers() == []


def test_a_log_knows_at_once_which_aborted_transactions_a_swap_left(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    log.transactional(7, (b"k", b"aborted"), (b"k", b"aborted"))
    log.end(7, ABORT)
    log.append(keyed([(b"k", b"v")]))
    log.roll()

    def told() -> list[tuple[int, int]]:
        found = log.log.read(0, 1 << 20, up_to=4, min_one_batch=True)
        assert found is not None
        try:
            return log.log.aborted_transactions(0, found)
        finally:
            found.release()

    assert told() == [(7, 0)]
    log.clean()
    assert told() == [(7, 0)]  # the empty batch of the producer is still there
    log.log.producers.entries.clear()
    clean_from_the_start(log)
    clean_from_the_start(log)
    assert told() == []
    assert not list(Path(log.log.directory).glob("*.txnindex"))

"""Which batches and markers a transaction's end lets go."""

from brokerd.log.cleaner.cleaned_transaction_metadata import CleanedTransactionMetadata
from brokerd.log.cleaner.records_as_columns import StoredBatch
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.protocol.records import CONTROL, TRANSACTIONAL, read_header
from tests.brokerd.log.cleaner.support import ABORT, COMMIT, keyed


def data(offset: int, producer_id: int = 7) -> StoredBatch:
    batch = keyed([(b"k", b"v")], producer=(producer_id, 0, 0), attributes=TRANSACTIONAL)
    return at(offset, batch)


def marker(offset: int, kind: bytes, producer_id: int = 7) -> StoredBatch:
    flags = TRANSACTIONAL | CONTROL
    return at(offset, keyed([(kind, b"\0" * 6)], producer=(producer_id, 0, -1), attributes=flags))


def at(offset: int, batch: memoryview) -> StoredBatch:
    batch[:8] = offset.to_bytes(8, "big")
    return StoredBatch(read_header(batch), batch)


def test_data_of_an_aborted_transaction_may_go_but_its_marker_not_yet() -> None:
    entry = AbortedTxn(7, 10, 12, 10)
    known = CleanedTransactionMetadata([entry])
    assert not known.may_discard(data(5))
    assert not known.may_discard(marker(6, COMMIT))
    assert known.may_discard(data(10))
    assert not known.may_discard(data(11, producer_id=8))
    assert not known.may_discard(marker(12, ABORT))
    assert known.kept == [entry]
    assert not known.may_discard(data(13))


def test_a_marker_without_data_may_go() -> None:
    known = CleanedTransactionMetadata([AbortedTxn(7, 10, 12, 10)])
    assert known.may_discard(marker(12, ABORT))
    assert known.may_discard(marker(13, COMMIT))
    assert known.kept == []


def test_the_marker_of_a_committed_transaction_with_data_stays() -> None:
    known = CleanedTransactionMetadata([])
    assert not known.may_discard(data(1))
    assert not known.may_discard(marker(2, COMMIT))
    assert known.may_discard(marker(3, COMMIT))


def test_what_is_not_transactional_is_not_touched() -> None:
    assert not CleanedTransactionMetadata([]).may_discard(
        at(1, keyed([(b"k", b"v")], producer=(7, 0, 0)))
    )


def test_a_transaction_that_ended_before_the_range_says_nothing_of_the_next() -> None:
    known = CleanedTransactionMetadata([AbortedTxn(7, 1, 4, 5), AbortedTxn(7, 8, 12, 13)])
    assert not known.may_discard(data(5))
    assert not known.may_discard(marker(6, COMMIT))
    assert known.may_discard(data(8))


def test_an_abort_marker_stays_while_its_data_does_though_the_index_was_lost() -> None:
    known = CleanedTransactionMetadata([])
    assert not known.may_discard(data(1))
    assert not known.may_discard(marker(2, ABORT))
    assert known.kept == []


def test_a_control_batch_that_ends_no_transaction_stays_and_ends_none() -> None:
    known = CleanedTransactionMetadata([AbortedTxn(7, 1, 4, 5)])
    assert known.may_discard(data(1))
    assert not known.may_discard(marker(2, b"\0\0\0\2"))
    assert known.may_discard(data(3))

"""The last batches of each idempotent producer: detects duplicates and gaps (sequence numbers).

Per producer id: its epoch and its last five batches. A batch that repeats one of the five is a
duplicate and answers the old offset; else its first sequence number must follow the last one
(after 2^31-1 comes 0). Rules, as Kafka's broker has them:

    epoch older than known                     INVALID_PRODUCER_EPOCH
    epoch newer, first sequence not 0          OUT_OF_ORDER_SEQUENCE_NUMBER
    same epoch, first sequence not the next    OUT_OF_ORDER_SEQUENCE_NUMBER
    same epoch, no batch in it yet             the next is 0
    producer unknown                           any is taken (its state may have expired)

A transactional batch opens a transaction unless one is open, a marker ends it. `first_unstable` is
the first offset of a transaction that is open, or whose marker is not below the high watermark.

Clients choose the ids and the timestamps by which they expire, and an entry takes up to 1.6 KB: so,
unlike Kafka, above PRODUCERS_MAX in a log those that wrote longest ago are forgotten.

Entries are immutable: an append checks a group of batches against staged entries and takes them in
only after the write succeeded.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from brokerd.errors import ErrorCode
from brokerd.integer_ranges import INT32_MAX
from brokerd.log.end_transaction_marker import Marker
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.protocol.records import BatchHeader

BATCHES_KEPT: Final = 5
PRODUCERS_MAX: Final = 100_000
"""Of one log."""
_FORGOTTEN_AT_ONCE: Final = 1_000
SEQUENCE_MAX: Final = INT32_MAX
NO_TXN: Final = -1
NO_SEQUENCE: Final = -1


class ProducerBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


class ProducerEntry(NamedTuple):
    """The state of one producer id; `batches` oldest first, at most BATCHES_KEPT."""

    epoch: int
    last_timestamp_ms: int
    batches: tuple[ProducerBatch, ...]
    coordinator_epoch: int = -1
    txn_first_offset: int = NO_TXN


StagedProducers = dict[int, ProducerEntry]


def last_sequence_of(first_sequence: int, last_offset_delta: int) -> int:
    last = first_sequence + last_offset_delta
    return last if last <= SEQUENCE_MAX else last - SEQUENCE_MAX - 1


class ProducerStateManager:
    """Producer id → entry; where there are many the one that wrote longest ago is the first."""

    __slots__ = ("_open", "_undecided", "entries")

    def __init__(self, entries: dict[int, ProducerEntry] | None = None) -> None:
        self.entries = entries or {}
        self._open = {
            producer_id: entry.txn_first_offset
            for producer_id, entry in self.entries.items()
            if entry.txn_first_offset != NO_TXN
        }
        self._undecided: list[tuple[int, int]] = []

    def stage(
        self, staged: StagedProducers, producer_id: int, epoch: int, batch: ProducerBatch
    ) -> ErrorCode | ProducerBatch | None:
        """Checks a batch against the entries and those in `staged`, and stages it if it is the
        next. Returns None (staged), the earlier batch of which it is a duplicate, or the error."""
        entry = staged.get(producer_id) or self.entries.get(producer_id)
        if entry is None:
            staged[producer_id] = ProducerEntry(epoch, batch.timestamp_ms, (batch,))
            return None
        known = entry.batches
        if epoch == entry.epoch:
            first = batch.first_sequence
            last = known[-1].last_sequence if known else NO_SEQUENCE
            if first != last + 1 and not (first == 0 and last == SEQUENCE_MAX):
                return _repeated(known, batch) or ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        elif epoch < entry.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        elif batch.first_sequence != 0:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        else:
            known = ()
        staged[producer_id] = ProducerEntry(
            epoch,
            batch.timestamp_ms,
            (*known[1 - BATCHES_KEPT :], batch),
            entry.coordinator_epoch,
            entry.txn_first_offset,
        )
        return None

    def commit(self, staged: StagedProducers) -> None:
        """Applies what was staged and written; above PRODUCERS_MAX the oldest are forgotten."""
        if len(self.entries) > PRODUCERS_MAX // 2:
            for producer_id in staged:
                self.entries.pop(producer_id, None)
        self.entries.update(staged)
        if len(self.entries) > PRODUCERS_MAX:
            self._forget_some()

    def _forget_some(self) -> None:
        count = len(self.entries) - PRODUCERS_MAX + min(_FORGOTTEN_AT_ONCE, PRODUCERS_MAX // 2)
        for producer_id in list(islice(self.entries, count)):
            if self.entries[producer_id].txn_first_offset == NO_TXN:
                del self.entries[producer_id]

    def replay(self, batches: Iterable[tuple[BatchHeader, Marker | None]]) -> list[AbortedTxn]:
        """Applies batches of the log without checks, since they were checked when they were
        appended. Control batches come with their markers. Returns the aborted transactions."""
        aborted = []
        for header, marker in batches:
            if header.producer_id < 0:
                continue
            if header.is_control:
                ended = self._end(header, marker)
                if ended is not None:
                    aborted.append(ended)
            else:
                self._replay(header)
        return aborted

    def _replay(self, header: BatchHeader) -> None:
        entry = self.entries.get(header.producer_id)
        known = entry.batches if entry and entry.epoch == header.producer_epoch else ()
        last = last_sequence_of(header.base_sequence, header.last_offset_delta)
        batch = ProducerBatch(
            header.base_sequence, last, header.base_offset, header.last_offset,
            header.max_timestamp,
        )  # fmt: skip
        txn_first = entry.txn_first_offset if entry else NO_TXN
        if header.is_transactional and txn_first == NO_TXN:
            txn_first = self._open[header.producer_id] = header.base_offset
        taken = ProducerEntry(
            header.producer_epoch,
            header.max_timestamp,
            (*known[1 - BATCHES_KEPT :], batch),
            entry.coordinator_epoch if entry else -1,
            txn_first,
        )
        self.commit({header.producer_id: taken})

    def _end(self, header: BatchHeader, marker: Marker | None) -> AbortedTxn | None:
        """Applies a control batch; returns the transaction if it was aborted."""
        if marker is None:
            return None
        producer_id = header.producer_id
        entry = self.entries.get(producer_id)
        known = entry.batches if entry and entry.epoch == header.producer_epoch else ()
        self.entries[producer_id] = ProducerEntry(
            header.producer_epoch, header.max_timestamp, known, marker.coordinator_epoch
        )
        first_offset = self._open.pop(producer_id, None)
        if first_offset is None:  # a marker without a transaction changes nothing
            return None
        self._undecided.append((first_offset, header.last_offset))
        if not marker.is_abort:
            return None
        stable = min(self._open.values(), default=header.last_offset + 1)
        return AbortedTxn(producer_id, first_offset, header.last_offset, stable)

    def first_unstable(self, high_watermark: int) -> int:
        """The first offset of an undecided transaction; NO_TXN without one."""
        if not self._open and not self._undecided:
            return NO_TXN
        if self._undecided:
            self._undecided = [each for each in self._undecided if each[1] >= high_watermark]
        firsts = [*self._open.values(), *(first for first, _ in self._undecided)]
        return min(firsts, default=NO_TXN)

    def expire(self, until_ms: int) -> None:
        """Forgets producers silent since `until_ms`, except those with an open transaction."""
        expired = [
            producer_id
            for producer_id, entry in self.entries.items()
            if entry.last_timestamp_ms <= until_ms and entry.txn_first_offset == NO_TXN
        ]
        for producer_id in expired:
            del self.entries[producer_id]


def _repeated(known: tuple[ProducerBatch, ...], batch: ProducerBatch) -> ProducerBatch | None:
    for old in known:
        if old.first_sequence == batch.first_sequence and old.last_sequence == batch.last_sequence:
            return old
    return None

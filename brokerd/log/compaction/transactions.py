"""What cleaning must know of transactions: which batches are aborted, which markers may go.

Records of aborted transactions go at once. The marker that ends a transaction may go once a
cleaning has met none of its batches; it then waits for its delete horizon as a tombstone does. The
aborted transactions of a range come from the `.txnindex` files: 34 bytes an entry, big-endian:
int16 version, then int64 producer id, first offset, last offset, last stable offset.
"""

import heapq
import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from brokerd.log.compaction.record_table import StoredBatch
from brokerd.protocol.records import HEADER_BYTES

_ENTRY: Final = struct.Struct(">hqqqq")
_VERSION: Final = 0
_COMMIT: Final = 1
_CONTROL_TYPE: Final = struct.Struct(">hh")


class AbortedTransaction(NamedTuple):
    """One entry of a `.txnindex`."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def encode(self) -> bytes:
        return _ENTRY.pack(_VERSION, *self)


def read_index(data: bytes) -> list[AbortedTransaction]:
    """The entries of a transaction index; half a one at the end is left out."""
    whole = data[: len(data) - len(data) % _ENTRY.size]
    return [AbortedTransaction(*fields[1:]) for fields in _ENTRY.iter_unpack(whole)]


class Transactions:
    """Fed with all batches of a range in order. `kept` collects the entries to be kept."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._coming = [(each.first_offset, each) for each in aborted]
        heapq.heapify(self._coming)
        self._aborting: dict[int, AbortedTransaction] = {}
        self._with_data: set[int] = set()  # producers whose transaction has batches here
        self.kept: list[AbortedTransaction] = []

    def may_discard(self, batch: StoredBatch) -> bool:
        """Whether a batch's records may go because of how their transaction ended."""
        header = batch.header
        if not header.is_transactional:
            return False
        while self._coming and self._coming[0][0] <= header.last_offset:
            aborted = heapq.heappop(self._coming)[1]
            self._aborting[aborted.producer_id] = aborted
        if header.is_control:
            return self._marker(batch)
        self._with_data.add(header.producer_id)
        return header.producer_id in self._aborting

    def _marker(self, batch: StoredBatch) -> bool:
        producer_id = batch.header.producer_id
        had_data = producer_id in self._with_data
        self._with_data.discard(producer_id)
        if _is_commit(batch):
            return not had_data
        aborted = self._aborting.pop(producer_id, None)
        if aborted is None or not had_data:
            return True
        self.kept.append(aborted)
        return False


def _is_commit(batch: StoredBatch) -> bool:
    """What a marker says; its only record has a key of two int16: version, type."""
    payload = batch.view[HEADER_BYTES : batch.header.size_bytes]
    at = _after_varints(payload, 0, 1)  # the record's length
    at = _after_varints(payload, at + 1, 3)  # attributes; two deltas and the length of the key
    if at + _CONTROL_TYPE.size > len(payload):
        return False
    return bool(_CONTROL_TYPE.unpack_from(payload, at)[1] == _COMMIT)


def _after_varints(payload: memoryview, at: int, count: int) -> int:
    for _ in range(count):
        while at < len(payload) and payload[at] & 0x80:
            at += 1
        at += 1
    return at

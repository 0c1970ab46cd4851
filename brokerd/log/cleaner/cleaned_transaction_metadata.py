"""Transactions while a log is cleaned (Kafka's CleanedTransactionMetadata): which batches are
aborted, which markers may be removed.

Records of aborted transactions go at once. The marker that ends a transaction may go once a
cleaning has met none of its batches; it then waits for its delete horizon as a tombstone does.
"""

import heapq
from collections.abc import Iterable

from brokerd.log.cleaner.records_as_columns import StoredBatch
from brokerd.log.end_transaction_marker import read_marker
from brokerd.log.indexes.transaction_index import AbortedTxn


class CleanedTransactionMetadata:
    """Fed with all batches of a range in order. `kept` collects the entries to be kept. `aborted`
    may know more than the range: transactions that ended before it or end behind it."""

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        self._coming = [(each.first_offset, each) for each in aborted]
        heapq.heapify(self._coming)
        self._aborting: dict[int, AbortedTxn] = {}
        self._with_data: set[int] = set()  # producers whose transaction has batches here
        self.kept: list[AbortedTxn] = []

    def may_discard(self, batch: StoredBatch) -> bool:
        """Whether a batch's records may be removed because of the end of their transaction."""
        header = batch.header
        if not header.is_transactional:
            return False
        while self._coming and self._coming[0][0] <= header.last_offset:
            aborted = heapq.heappop(self._coming)[1]
            if aborted.last_offset >= header.base_offset:
                self._aborting[aborted.producer_id] = aborted
        if header.is_control:
            return self._marker(batch)
        self._with_data.add(header.producer_id)
        return header.producer_id in self._aborting

    def _marker(self, batch: StoredBatch) -> bool:
        header = batch.header
        marker = read_marker(header, batch.view)
        if marker is None:  # what an earlier cleaning emptied may go, what is no marker stays
            return header.count == 0
        had_data = header.producer_id in self._with_data
        self._with_data.discard(header.producer_id)
        aborted = self._aborting.pop(header.producer_id, None) if marker.is_abort else None
        if aborted is not None and had_data:
            self.kept.append(aborted)
        return not had_data

"""Finds the matches of a window in what was fetched: reads, decodes, masks and filters."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.gateway.record_row import RecordRow
from monitoring.gateway.wire import batch_scan, batches
from monitoring.gateway.wire.batches import AbortedTransaction
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.records.compaction_estimate import ScannedKeys
from monitoring.records.filters import RecordFilter
from monitoring.records.mask_record import mask
from monitoring.records.search_windows import Window
from monitoring.schema_registry.record_decoder import for_registry


class ScanResult(NamedTuple):
    """The matches of a window by offset, and what was counted in it."""

    rows: list[RecordRow]
    record_count: int  # matches or not
    damaged: int  # batches
    failures: int  # records for which the expression failed
    first_failure: str
    undecoded: int  # records whose schema could not be read or does not fit
    first_undecoded: str
    keys: ScannedKeys | None = None  # of an estimate of what compaction saves


class WindowScanner:
    """Scans windows, one after the other."""

    def __init__(
        self,
        record_filter: RecordFilter,
        masked: tuple[str, ...] = (),
        registry: RegistrySettings | None = None,
    ) -> None:
        self._filter, self._masked = record_filter, masked
        # With masks every record is decoded, so that the time does not reveal what is masked.
        self._prefilter = None if masked else record_filter.prefilter
        # The decoder has no limit of time: the search has one.
        self._decoder = for_registry(registry, seconds_max=None) if registry else None
        self._undecoded, self._first_undecoded = 0, ""

    @property
    def decodes_all(self) -> bool:
        """Whether each record is decoded: then the time goes into that, else into fetching."""
        return self._prefilter is None or self._decoder is not None

    def scan(self, window: Window, pieces: Sequence[FetchedRecords]) -> ScanResult:
        """Raises one of DAMAGE_ERRORS if a piece has something else than batches."""
        found: list[RecordRow] = []
        scanned = damaged = 0
        failures, undecoded = self._filter.failures, self._undecoded
        for piece in pieces:
            aborted = [AbortedTransaction(*each) for each in piece.aborted]
            for batch in batches.committed_batches(piece.records, aborted):
                first, last = batch.header.base_offset, batch.header.last_offset
                offsets = range(max(first, window.first), min(last + 1, window.end))
                scanned += min(batch.header.count, len(offsets))
                is_whole = (offsets.start, offsets.stop) == (first, last + 1)
                try:
                    found += self._matches(window, batch, None if is_whole else offsets)
                except batch_scan.DAMAGE_ERRORS:
                    damaged += 1
        return ScanResult(
            found, scanned, damaged,
            self._filter.failures - failures, self._filter.first_failure,
            self._undecoded - undecoded, self._first_undecoded,
        )  # fmt: skip

    def _matches(
        self, window: Window, batch: batches.Batch, offsets: range | None
    ) -> list[RecordRow]:
        masked, accepts = self._masked, self._filter.accepts
        rows: Iterable[RecordRow] = batch_scan.candidates(
            window.partition, batch.header, batch.records(), self._prefilter, offsets,
            with_schemas=self._decoder is not None,
        )  # fmt: skip
        if self._decoder is not None:
            rows = map(self._decoded, rows)
        if masked:
            rows = (mask(row, masked) for row in rows)
        return [row for row in rows if accepts(row)]

    def _decoded(self, row: RecordRow) -> RecordRow:
        assert self._decoder is not None
        row = self._decoder.decode(row)
        notes = (row.key_schema, row.value_schema)
        problem = next((note.problem for note in notes if note and note.problem), "")
        if problem:
            self._undecoded += 1
            self._first_undecoded = self._first_undecoded or problem
        return row

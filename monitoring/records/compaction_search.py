"""Reads a part of a partition as a search does, for an estimate of what compaction would save.

It has the limits of searches and one of keys. The figures are in the progress: of what was read so
far, every second or more seldom if they take long.
"""

import time
from dataclasses import dataclass, replace

from monitoring.records.compaction_estimate import CompactionEstimate, CompactionFigures
from monitoring.records.key_scanner import KeyScanner
from monitoring.records.scan_pool import Scanner
from monitoring.records.search import Search
from monitoring.records.search_events import SearchProgress, Send
from monitoring.records.search_request import SearchRequest
from monitoring.records.search_windows import Window
from monitoring.records.window_scanner import ScanResult

KEYS = "keys"  # why a search ended, besides the reasons in search_events.py: too many keys
_FIGURES_S = 1.0
_FIGURES_SHARE = 20  # figures take at most a 20th of the time


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest(SearchRequest):
    """`offset_ranges` has one partition; `now_ms` decides which tombstones are kept."""

    newest_first: bool = False
    now_ms: int


@dataclass(frozen=True, slots=True)
class CompactionProgress(SearchProgress):
    """How far an estimate is."""

    figures: CompactionFigures | None = None


class CompactionSearch(Search):
    """An estimate; `run` sends CompactionProgress until it ends."""

    _request: CompactionRequest

    def __init__(self, request: CompactionRequest, send: Send) -> None:
        super().__init__(request, send)
        progress = self._progress
        self._progress = CompactionProgress(
            offsets_total=progress.offsets_total, positions=progress.positions
        )
        self._estimate = CompactionEstimate()
        self._figures_at_s = self._started_s + _FIGURES_S

    def _scanner(self) -> tuple[Scanner, bool]:
        (offsets,) = self._request.offset_ranges.values()
        return KeyScanner(offsets.start, self._request.now_ms), True

    def _add_matches(
        self, window: Window, scanned: ScanResult, size_bytes: int, position: int
    ) -> None:
        if window.first != self._progress.positions[window.partition]:
            return  # the window before was not read: the estimate is of what comes before that
        assert scanned.keys is not None
        self._estimate.add(scanned.keys)
        super()._add_matches(window, scanned, size_bytes, position)

    def _report(self, end: str = "") -> None:
        began_s = time.monotonic()
        if end or began_s >= self._figures_at_s:
            assert isinstance(self._progress, CompactionProgress)
            self._progress = replace(self._progress, figures=self._estimate.figures())
            now_s = time.monotonic()
            self._figures_at_s = now_s + max(_FIGURES_S, _FIGURES_SHARE * (now_s - began_s))
        super()._report(end)

    def _end_reason(self) -> str:
        return super()._end_reason() or (KEYS if self._estimate.is_full else "")

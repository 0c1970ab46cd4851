"""A search over the records of a topic: reads, filters, and reports matches and progress.

It runs in a process of its own (search_process.py). Several tasks take windows of offsets in
turn, one more than there are scanners (scan_pool.py): one fetches while the others' records are
scanned. Matches are sent in the order of the fetches.

A search with `follows` goes on with the records that are written after it began, until a limit.
One with `is_export` never leaves out a match: a later one continues at `SearchProgress.positions`.
"""

import asyncio
import time
from dataclasses import replace

from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, NotFound
from monitoring.gateway.record_row import RecordRow
from monitoring.gateway.wire import batch_scan, batches
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.gateway.wire.record_fetcher import RecordFetcher
from monitoring.records.filters import RecordFilter
from monitoring.records.scan_pool import Scanner, ScanPool
from monitoring.records.search_events import (
    BYTES,
    COMPLETE,
    ERROR,
    LIMIT,
    TIME,
    SearchProgress,
    Send,
)
from monitoring.records.search_limits import FOLLOWED_ROWS_MAX
from monitoring.records.search_request import SearchRequest
from monitoring.records.search_windows import (
    DECODED_WINDOW_BYTES,
    WINDOW_BYTES,
    SearchWindows,
    Window,
)
from monitoring.records.window_scanner import ScanResult, WindowScanner

_PROGRESS_S = 0.25
_ROWS_PER_EVENT = 50
_FOLLOW_S = 0.5  # between two reads of new records


class Search:
    """One search; `run` sends events until it ends."""

    def __init__(self, request: SearchRequest, send: Send) -> None:
        """Raises FilterInvalid."""
        self._request, self._send = request, send
        scanner, decodes_all = self._scanner()
        self.pool = ScanPool(scanner, with_helpers=decodes_all and not request.follows)
        self._window_bytes = DECODED_WINDOW_BYTES if decodes_all else WINDOW_BYTES
        self._windows = self._windows_of(request.offset_ranges, newest_first=request.newest_first)
        starts = {number: offsets.start for number, offsets in request.offset_ranges.items()}
        self._progress = SearchProgress(offsets_total=self._windows.offsets_total, positions=starts)
        self._rows_left = request.matches_max
        self._started_s = self._reported_s = time.monotonic()
        # Set when the window that was fetched last has had its turn to add its matches.
        self._last_turn = asyncio.Event()
        self._last_turn.set()
        self._matched_bytes = 0
        self._sent_all = True  # whether all matches of the scanned windows were sent
        self._fetcher = RecordFetcher(request.settings, request.topic)

    async def run(self) -> None:
        """Raises GatewayError if no broker answers or the topic does not exist."""
        try:
            await self._fetcher.find_leaders(request_timeouts.SEARCH_READ_S)
            await self._read_windows()
            if self._request.follows:
                await self._follow()
        finally:
            await self._fetcher.close()
            self.pool.close()
        all_read = self._progress.offsets >= self._progress.offsets_total
        is_cut = self._is_full and not (all_read and self._sent_all)
        self._report(self._end_reason() or (LIMIT if is_cut else self._end_of_all()))

    def _scanner(self) -> tuple[Scanner, bool]:
        """What scans the windows, and whether it decodes each record. Raises FilterInvalid."""
        request = self._request
        record_filter = RecordFilter(request.conditions, request.expression)
        scanner = WindowScanner(record_filter, request.masked, request.registry)
        return scanner, scanner.decodes_all

    def _end_of_all(self) -> str:
        return ERROR if self._progress.unread else COMPLETE

    def _windows_of(self, offset_ranges: dict[int, range], *, newest_first: bool) -> SearchWindows:
        return SearchWindows(offset_ranges, newest_first, self._window_bytes)

    async def _read_windows(self) -> None:
        await asyncio.gather(*(self._read_next_windows() for _ in range(1 + self.pool.size)))

    async def _follow(self) -> None:
        """Search new records until a limit; a cluster that does not answer is asked again."""
        while not self._end_reason():
            await asyncio.sleep(_FOLLOW_S)
            self._rows_left = FOLLOWED_ROWS_MAX
            try:
                self._windows = self._windows_of(
                    await self._new_offset_ranges(), newest_first=False
                )
            except NotFound:
                raise
            except GatewayError as error:
                unread = dict.fromkeys(self._progress.positions, error.message)
                self._progress = replace(self._progress, unread=unread)
            else:
                total = self._progress.offsets_total + self._windows.offsets_total
                self._progress = replace(self._progress, unread={}, offsets_total=total)
                await self._read_windows()
            self._report()

    async def _new_offset_ranges(self) -> dict[int, range]:
        """Partition → the offsets after its position; of a new partition all."""
        metadata = await self._fetcher.find_leaders(request_timeouts.SEARCH_READ_S)
        found = await self._fetcher.offset_ranges(metadata, request_timeouts.SEARCH_READ_S)
        positions = self._progress.positions
        return {
            number: range(positions.get(number, 0), offsets.stop)
            for number, offsets in found.items()
            if number in positions or self._request.follows_new_partitions
        }

    async def _read_next_windows(self) -> None:
        while not self._end_reason():
            if self._is_full and self._request.is_export:
                return
            window = self._windows.take(finish_round=self._is_full)
            if window is None:
                if self._is_full or not self._windows.offsets_left:
                    return
                await asyncio.sleep(0.001)  # another task has the last window
                continue
            try:
                await self._read_window(window)
            except (GatewayError, *batch_scan.DAMAGE_ERRORS) as error:
                self._drop_window(window, error)

    def _drop_window(self, window: Window, error: Exception) -> None:
        self._windows.drop(window)
        why: str = Reason("does_not_parse", why=str(error))
        if isinstance(error, GatewayError):
            why = error.message
        unread = {**self._progress.unread, window.partition: why}
        self._progress = replace(self._progress, unread=unread)

    async def _read_window(self, window: Window) -> None:
        """Read a window by as many Fetches as it takes."""
        pieces: list[FetchedRecords] = []
        at = window.first
        while at < window.end:
            fetched = await self._fetcher.fetch(
                window.partition, at, self._window_bytes, request_timeouts.SEARCH_READ_S
            )
            records, after = batches.batches_before(fetched.records, window.end)
            if not fetched.records and at < min(window.end, fetched.last_stable_offset):
                raise ClusterUnavailable(Reason("partition_sends_nothing"))
            if after is None:  # the last stable offset, or compaction left no more records
                break
            pieces.append(fetched._replace(records=records))
            at = max(after, at + 1)
        size_bytes = sum(len(piece.records) for piece in pieces)
        # The rest is of an open transaction: a search that follows reads it later.
        is_open = self._request.follows and at < window.end
        self._windows.finish(window, size_bytes)
        await self._scan_window(window, pieces, at if is_open else window.end)

    async def _scan_window(
        self, window: Window, pieces: list[FetchedRecords], position: int
    ) -> None:
        """Scan a window; its matches are added in the order of the fetches, not of the scans."""
        turn_before, self._last_turn = self._last_turn, asyncio.Event()
        own_turn = self._last_turn
        try:
            scanned = await self.pool.scan(window, pieces) if self._wants_more else None
        finally:
            await turn_before.wait()
            own_turn.set()  # the next task goes on only when this function has added its matches
        if scanned is not None and self._wants_more:
            self._add_matches(window, scanned, sum(len(each.records) for each in pieces), position)

    @property
    def _wants_more(self) -> bool:
        return not (self._end_reason() or (self._request.is_export and self._is_full))

    def _add_matches(
        self, window: Window, scanned: ScanResult, size_bytes: int, position: int
    ) -> None:
        found = scanned.rows
        rows = self._limited(found)
        self._sent_all &= len(rows) == len(found)
        if self._request.is_export and len(rows) < len(found):
            position = rows[-1].offset + 1
        self._matched_bytes += sum(row.size_bytes for row in rows)
        progress = self._progress
        self._progress = replace(
            progress,
            scanned=progress.scanned + scanned.record_count,
            matched=progress.matched + len(rows if self._request.is_export else found),
            left_out=progress.left_out + len(found) - len(rows) if self._request.follows else 0,
            size_bytes=progress.size_bytes + size_bytes,
            offsets=progress.offsets + position - window.first,
            failures=progress.failures + scanned.failures,
            first_failure=progress.first_failure or scanned.first_failure,
            damaged=progress.damaged + scanned.damaged,
            undecoded=progress.undecoded + scanned.undecoded,
            first_undecoded=progress.first_undecoded or scanned.first_undecoded,
            positions={**progress.positions, window.partition: position},
        )
        for start in range(0, len(rows), _ROWS_PER_EVENT):
            self._send(rows[start : start + _ROWS_PER_EVENT])
        if rows or time.monotonic() - self._reported_s > _PROGRESS_S:
            self._report()

    def _limited(self, found: list[RecordRow]) -> list[RecordRow]:
        """The matches of a window that are sent, in the order of the search."""
        request = self._request
        if request.follows:
            rows = found[max(0, len(found) - self._rows_left) :]
            self._rows_left -= len(rows)
            return rows
        if request.is_export:
            return found[: request.matches_max - self._progress.matched]
        return (found[::-1] if request.newest_first else found)[: request.matches_max]

    def _report(self, end: str = "") -> None:
        self._reported_s = time.monotonic()
        seconds = self._reported_s - self._started_s
        self._send(replace(self._progress, seconds=seconds, end=end))

    @property
    def _is_full(self) -> bool:
        """Whether there are enough matches. A search then reads on only until each partition had as
        many windows as the others."""
        if self._request.follows:
            return False
        enough = self._progress.matched >= self._request.matches_max
        return enough or self._matched_bytes > self._request.matched_bytes_max

    def _end_reason(self) -> str:
        request, progress = self._request, self._progress
        if time.monotonic() - self._started_s > request.seconds_max:
            return TIME
        return BYTES if progress.size_bytes >= request.bytes_max else ""

"""Scans windows of a search at the same time, in helper processes.

A scan that decodes every record keeps a core busy. A thread of the process that fetches would be
slower: the two would wait for the interpreter's lock. So two helper processes scan. They are forks,
which must be made before there are threads. The second one is not used while other searches
need the cores (`may_use_two`). Both end with the process of the search. Searches that do not decode
every record scan in a thread: most of their time goes into fetching.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Any, Protocol

from monitoring.error_reason import Reason
from monitoring.gateway.errors import Unreadable
from monitoring.gateway.wire import batch_scan
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.records.search_windows import Window
from monitoring.records.window_scanner import ScanResult


class Scanner(Protocol):
    """Scans windows, one after the other."""

    def scan(self, window: Window, pieces: Sequence[FetchedRecords]) -> ScanResult: ...


class ScanPool:
    """The scanners of a search; each scans one window at a time."""

    def __init__(self, scanner: Scanner, *, with_helpers: bool = False) -> None:
        self.may_use_two = False  # set by another thread
        self._in_thread = scanner
        self._first: Scanner = _Helper(scanner) if with_helpers else scanner
        self._unused: list[Scanner] = [_Helper(scanner)] if with_helpers else []
        self.size = 1 + len(self._unused)
        self._free: asyncio.Queue[Scanner] = asyncio.Queue()
        self._free.put_nowait(self._first)
        self._threads = ThreadPoolExecutor(self.size, "scan")

    async def scan(self, window: Window, pieces: Sequence[FetchedRecords]) -> ScanResult:
        """Raises one of DAMAGE_ERRORS, or Unreadable if a helper died of this window."""
        if self.may_use_two and self._unused:
            self._free.put_nowait(self._unused.pop())
        scanner = await self._free.get()
        returned: Scanner | None = scanner
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, scanner.scan, window, pieces)
        except Unreadable:
            # A thread replaces the first helper that dies; a second one is not replaced.
            returned = None if self._first is self._in_thread else self._in_thread
            self._first = self._in_thread
            raise
        finally:
            if returned is not None:
                if returned is self._first or self.may_use_two:
                    self._free.put_nowait(returned)
                else:
                    self._unused.append(returned)

    def close(self) -> None:
        """Do not wait for scans."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Helper:
    """A process that scans windows as the scanner that it is forked with."""

    def __init__(self, scanner: Scanner) -> None:
        self._connection, far_end = Pipe()
        process = get_context("fork").Process(
            target=_serve, args=(far_end, self._connection, scanner), daemon=True
        )
        process.start()
        far_end.close()

    def scan(self, window: Window, pieces: Sequence[FetchedRecords]) -> ScanResult:
        """Raises one of DAMAGE_ERRORS, or Unreadable if the process died."""
        try:
            # The records follow as bytes, which are not pickled.
            self._connection.send((window, [piece.aborted for piece in pieces]))
            for piece in pieces:
                self._connection.send_bytes(piece.records)
            answer: ScanResult | Exception = self._connection.recv()
        except (EOFError, OSError) as error:
            raise Unreadable(Reason("decoder_died", how=type(error).__name__)) from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(
    connection: "Connection[Any, Any]", other_end: "Connection[Any, Any]", scanner: Scanner
) -> None:
    """Scan until the process of the search closes its end, also by dying."""
    other_end.close()
    with contextlib.suppress(EOFError, OSError):
        while True:
            window, aborted = connection.recv()
            pieces = [
                FetchedRecords(
                    error=0,
                    last_stable_offset=0,  # a scanner does not read it
                    aborted=each,
                    records=memoryview(connection.recv_bytes()),
                )
                for each in aborted
            ]
            try:
                connection.send(scanner.scan(window, pieces))
            except batch_scan.DAMAGE_ERRORS as error:
                connection.send(error)

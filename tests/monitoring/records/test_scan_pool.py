"""Windows that are scanned by helper processes."""

import asyncio
import os
import signal

import psutil
import pytest

from brokerd.protocol.records import Record, encode_batch
from monitoring.gateway.errors import Unreadable
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.records.filters import RecordFilter
from monitoring.records.scan_pool import ScanPool
from monitoring.records.search_windows import Window
from monitoring.records.window_scanner import WindowScanner

COUNT = 100


def fetched(base_offset: int) -> FetchedRecords:
    records = [Record(0, 0, None, b'{"n": %d}' % number, ()) for number in range(COUNT)]
    batch = bytes(encode_batch(records, base_offset=base_offset))
    return FetchedRecords(0, 0, (), memoryview(batch))


def pool(expression: str = "record.value.n < 2") -> ScanPool:
    return ScanPool(WindowScanner(RecordFilter((), expression)), with_helpers=True)


def window(number: int) -> Window:
    return Window(0, number * COUNT, (number + 1) * COUNT)


async def scan_all(scans: ScanPool, numbers: range) -> list[list[int]]:
    found = await asyncio.gather(
        *(scans.scan(window(number), [fetched(number * COUNT)]) for number in numbers)
    )
    return [[row.offset for row in each.rows] for each in found]


@pytest.fixture
def helpers():
    """Finds the helpers among the children of this process."""
    before = set(psutil.Process().children())
    return lambda: list(set(psutil.Process().children()) - before)


@pytest.mark.parametrize("may_use_two", [True, False])
def test_each_window_has_its_matches_whoever_scans_it(may_use_two):
    scans = pool()
    scans.may_use_two = may_use_two
    expected = [[number * COUNT, number * COUNT + 1] for number in range(20)]
    assert asyncio.run(scan_all(scans, range(20))) == expected


def test_what_is_no_batch_is_an_error_of_its_window_alone():
    scans = pool()
    scans.may_use_two = True
    damaged = FetchedRecords(0, 0, (), memoryview(bytes(100)))

    async def scan_damaged():
        pieces = ([damaged], [damaged], [fetched(0)], [fetched(0)])
        return await asyncio.gather(
            *(scans.scan(window(0), each) for each in pieces), return_exceptions=True
        )

    first, second, third, fourth = asyncio.run(scan_damaged())
    assert [type(first), type(second)] == [ValueError, ValueError]
    assert len(third.rows) == len(fourth.rows) == 2


def test_a_failed_expression_is_counted_in_both_helpers():
    scans = pool("record.value.missing > 1")
    scans.may_use_two = True

    async def failures():
        found = await asyncio.gather(*(scans.scan(window(0), [fetched(0)]) for _ in range(4)))
        return [each.failures for each in found], found[0].first_failure

    counts, first = asyncio.run(failures())
    assert (counts, "missing" in first) == ([COUNT] * 4, True)


@pytest.mark.parametrize("dead", [1, 2])
def test_a_search_goes_on_without_helpers_that_died(helpers, dead):
    scans = pool()
    for process in helpers()[:dead]:
        os.kill(process.pid, signal.SIGKILL)
    scans.may_use_two = True

    async def scan_four():
        scanning = (scans.scan(window(0), [fetched(0)]) for _ in range(4))
        return await asyncio.gather(*scanning, return_exceptions=True)

    found = asyncio.run(scan_four())
    assert sum(isinstance(each, Unreadable) for each in found) == dead


def test_the_helpers_end_with_the_last_use_of_their_pool(helpers):
    scans = pool()
    processes = helpers()
    scans.close()
    del scans
    _ended, alive = psutil.wait_procs(processes, 10)
    assert (len(processes), alive) == (2, [])

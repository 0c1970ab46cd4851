"""A backward scan finds the newest records of logs with holes of any shape."""

from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from monitoring.gateway.backward_scan import NewestRecords, PartitionScan
from monitoring.gateway.record_row import RecordRow, by_offset, by_time

FULL = 50  # records that are read at once
offsets_with_holes = st.lists(st.integers(0, 2**40), max_size=60, unique=True).map(sorted)
dense = st.integers(0, 2**40).flatmap(
    lambda start: st.integers(0, 200).map(lambda n: list(range(start, start + n)))
)
logs = st.one_of(offsets_with_holes, st.tuples(offsets_with_holes, dense).map(
    lambda parts: sorted({*parts[0], *parts[1]})
))  # fmt: skip


def record(partition, offset, timestamp_ms=None):
    return RecordRow(partition, offset, timestamp_ms, None, b"x", ())


def scan_all(newest, logs):
    """Read windows as from a broker until the scan is finished; returns the number of rounds."""
    rounds = 0
    while scans := newest.unfinished():
        rounds += 1
        assert rounds < 200, "the scan does not end"
        windows = []
        for scan in scans:
            rows = logs[scan.partition]
            offsets = [row.offset for row in rows]
            window = rows[bisect_left(offsets, scan.start) : bisect_left(offsets, scan.end)]
            windows.append((scan, window if len(window) <= FULL else None))
        newest.add(windows)
    return rounds


@given(logs, st.integers(1, 40))
def test_the_newest_records_of_a_partition_are_found_despite_holes(offsets, limit):
    rows = [record(0, offset) for offset in offsets]
    end = offsets[-1] + 1 if offsets else 0
    newest = NewestRecords([PartitionScan(0, 0, end, limit)], limit, by_offset)
    scan_all(newest, {0: rows})
    assert newest.rows == rows[::-1][:limit]


@given(st.lists(logs, min_size=1, max_size=5), st.integers(1, 40), st.randoms())
def test_the_newest_records_of_several_partitions_are_merged_by_time(logs, limit, random):
    rows = {}
    for partition, offsets in enumerate(logs):
        times = sorted(random.randrange(1, 1000) for _ in offsets)
        rows[partition] = [
            record(partition, *pair) for pair in zip(offsets, times, strict=True)
        ]  # fmt: skip
    scans = [
        PartitionScan(partition, 0, offsets[-1] + 1 if offsets else 0, 3)
        for partition, offsets in enumerate(logs)
    ]
    newest = NewestRecords(scans, limit, by_time)
    scan_all(newest, rows)
    everything = sorted((row for some in rows.values() for row in some), key=by_time)
    assert [row.timestamp_ms for row in newest.rows] == [
        row.timestamp_ms for row in everything[:limit]
    ]


def test_a_large_hole_takes_few_rounds():
    rows = [record(0, offset) for offset in (0, 2**60)]
    newest = NewestRecords([PartitionScan(0, 0, 2**60 + 1, 25)], 25, by_offset)
    assert scan_all(newest, {0: rows}) < 20

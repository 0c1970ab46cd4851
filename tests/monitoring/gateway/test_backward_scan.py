"""The way back over logs with holes of every shape."""

from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from monitoring.gateway.backward_scan import NewestRecords, PartitionScan
from monitoring.gateway.records import RecordRow, by_offset, by_time

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


def readable(found, logs):
    """Reads windows as a broker would answer, until the scan asks for no more; how often."""
    rounds = 0
    while scans := found.unfinished():
        rounds += 1
        assert rounds < 200, "the scan comes to an end"
        windows = []
        for scan in scans:
            rows = logs[scan.partition]
            offsets = [row.offset for row in rows]
            there = rows[bisect_left(offsets, scan.start) : bisect_left(offsets, scan.end)]
            windows.append((scan, there if len(there) <= FULL else None))
        found.take(windows)
    return rounds


@given(logs, st.integers(1, 40))
def test_the_newest_of_a_partition_are_found_whatever_its_holes(offsets, wanted):
    rows = [record(0, offset) for offset in offsets]
    end = offsets[-1] + 1 if offsets else 0
    found = NewestRecords([PartitionScan(0, 0, end, wanted)], wanted, by_offset)
    readable(found, {0: rows})
    assert found.rows == rows[::-1][:wanted]


@given(st.lists(logs, min_size=1, max_size=5), st.integers(1, 40), st.randoms())
def test_the_newest_of_several_partitions_are_the_newest_of_all(logs, wanted, random):
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
    found = NewestRecords(scans, wanted, by_time)
    readable(found, rows)
    everything = sorted((row for some in rows.values() for row in some), key=by_time)
    assert [row.timestamp_ms for row in found.rows] == [
        row.timestamp_ms for row in everything[:wanted]
    ]


def test_a_hole_of_any_size_takes_a_few_steps():
    rows = [record(0, offset) for offset in (0, 2**60)]
    found = NewestRecords([PartitionScan(0, 0, 2**60 + 1, 25)], 25, by_offset)
    assert readable(found, {0: rows}) < 20

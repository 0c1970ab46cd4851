"""Figures of an estimate, compared with a plain computation over the same records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.protocol.compression import Codec
from brokerd.protocol.records import DELETE_HORIZON, Record, encode_batch
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.records.compaction_estimate import CompactionEstimate
from monitoring.records.key_scanner import KeyScanner
from monitoring.records.search_windows import Window

NOW_MS = 5_000
KEYS = st.one_of(st.none(), st.sampled_from([b"", b"a", b"b", b"c" * 40, b"\xff"]))
VALUES = st.one_of(st.none(), st.binary(max_size=60))
BATCHES = st.lists(
    st.lists(st.builds(Record, st.just(0), st.integers(0, 9_000), KEYS, VALUES), min_size=1),
    min_size=1, max_size=6,
)  # fmt: skip


def encoded(batches: list[list[Record]], **more: int) -> list[bytes]:
    found, offset = [], 0
    for records in batches:
        found.append(bytes(encode_batch(records, base_offset=offset, **more)))
        offset += len(records)
    return found


def estimate(parts: list[bytes], **more: int) -> CompactionEstimate:
    """Of batches that are scanned in one window."""
    found = CompactionEstimate(**more)
    scanner = KeyScanner(0, NOW_MS)
    piece = FetchedRecords(0, 0, (), memoryview(b"".join(parts)))
    scanned = scanner.scan(Window(0, 0, 10**6), [piece])
    assert scanned.keys is not None
    found.add(scanned.keys)
    return found


def record_sizes(records: list[Record]) -> list[int]:
    """What each record takes in an uncompressed batch, by the sizes of growing batches."""
    sizes = [len(encode_batch(records[: n + 1])) for n in range(len(records))]
    return [size - before for size, before in zip(sizes, [61, *sizes], strict=False)]


@given(BATCHES)
def test_the_newest_record_of_each_key_is_kept(batches):
    figures = estimate(encoded(batches)).figures()
    newest: dict[bytes, tuple[int, int, bool]] = {}
    total = keyless = 0
    for number, records in enumerate(batches):
        for record, size in zip(records, record_sizes(records), strict=True):
            total += 1
            if record.key is None:
                keyless += 1
            else:
                newest[record.key] = (number, size, record.value is None)
    kept_batches = {number for number, _size, _tombstone in newest.values()}
    assert (figures.records, figures.keys, figures.without_key) == (total, len(newest), keyless)
    assert figures.kept_records == len(newest)
    assert figures.kept_tombstones == sum(each[2] for each in newest.values())
    kept_bytes = sum(each[1] for each in newest.values()) + 61 * len(kept_batches)
    assert figures.kept_bytes == kept_bytes
    assert figures.size_bytes == sum(map(len, encoded(batches)))
    assert figures.end_offset == total


@given(BATCHES, st.integers(1, 4))
def test_the_size_of_merges_and_windows_changes_nothing(batches, merged):
    parts = encoded(batches)
    stepwise, scanner, first = CompactionEstimate(merged=merged), KeyScanner(0, NOW_MS), 0
    for records, part in zip(batches, parts, strict=True):
        window = Window(0, first, first + len(records))
        scanned = scanner.scan(window, [FetchedRecords(0, 0, (), memoryview(part))])
        assert scanned.keys is not None
        stepwise.add(scanned.keys)
        first += len(records)
    assert stepwise.figures() == estimate(parts).figures()


def test_tombstones_go_when_their_batch_has_reached_its_delete_horizon():
    tombstones = [Record(0, NOW_MS - 1, b"a", None)]
    [kept] = encoded([tombstones])
    assert estimate([kept]).figures().kept_tombstones == 1
    [expired] = encoded([tombstones], attributes=DELETE_HORIZON)
    figures = estimate([expired]).figures()
    assert (figures.keys, figures.kept_records, figures.kept_bytes) == (1, 0, 0)


def test_the_records_of_a_compressed_batch_take_their_share_of_it():
    records = [Record(0, 0, b"%d" % (number % 2), b"x" * 1000) for number in range(10)]
    [batch] = encoded([records], codec=Codec.GZIP)
    figures = estimate([batch]).figures()
    assert figures.size_bytes == len(batch)
    assert figures.kept_bytes == pytest.approx(61 + (len(batch) - 61) * 0.2, rel=0.02)
    assert figures.saved_share == pytest.approx(1 - figures.kept_bytes / len(batch))


def test_a_batch_counts_in_the_window_in_which_it_begins():
    [batch] = encoded([[Record(0, 0, b"a", b"1"), Record(0, 0, b"b", b"2")]])
    piece = FetchedRecords(0, 0, (), memoryview(batch))
    scanner = KeyScanner(0, NOW_MS)
    assert scanner.scan(Window(0, 0, 1), [piece]).keys.size_bytes == len(batch)
    assert scanner.scan(Window(0, 1, 2), [piece]).keys.size_bytes == 0


def test_too_many_keys_are_said():
    records = [Record(0, 0, b"%d" % number, b"") for number in range(5)]
    found = estimate(encoded([records]), keys_max=5, merged=1)
    assert found.is_full
    assert not estimate(encoded([records]), keys_max=6, merged=1).is_full


def test_a_damaged_batch_counts_as_kept():
    [batch] = encoded([[Record(0, 0, b"a", b"1")]])
    damaged = bytearray(batch)
    damaged[61] = 0x7E  # the size of its record is beyond the end
    figures = estimate([bytes(damaged)]).figures()
    assert (figures.kept_bytes, figures.size_bytes, figures.records) == (len(batch),) * 2 + (0,)

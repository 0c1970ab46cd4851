"""What becomes of a batch: the same, another, an empty one, nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

from brokerd.log.cleaner.records_as_columns import StoredBatch, tables
from brokerd.log.cleaner.should_retain_record import BatchRules, Rules, filter_batches, horizon_of
from brokerd.protocol.records import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Record,
    crc_matches,
    iter_records,
    read_header,
)
from tests.brokerd.log.cleaner.support import Pair, keyed
from tests.brokerd.log.support import NOW_MS

LATER_MS = NOW_MS + 5000
K, L, M = b"k", b"l", b"m"
MARKER = [(b"\0\0\0\1", b"\0\0\0\0\0\0")]


@dataclass
class Case:
    """One batch at offset 10, filtered; `known` are the last offsets of keys."""

    batch: memoryview
    known: dict[bytes, int]
    latest_offset: int = 1000
    may_discard: bool = False
    is_last: bool = False
    now_ms: int = LATER_MS
    retention_ms: int = 100

    def run(self) -> memoryview | bytearray | None:
        self.batch[:8] = (10).to_bytes(8, "big")
        ((batches, table),) = tables([StoredBatch(read_header(self.batch), self.batch)])
        keys = [bytes(table.data[s : s + max(n, 0)]) for s, n in zip(
            table.key_starts.tolist(), table.key_lengths.tolist(), strict=True)]  # fmt: skip
        lasts = np.array([self.known.get(key, -1) for key in keys], np.int64)
        (out,) = filter_batches(
            batches, table, lasts, Rules(self.latest_offset, self.now_ms, self.retention_ms),
            BatchRules([self.may_discard], [self.is_last]),
        )  # fmt: skip
        return out

    def records(self) -> list[Record]:
        out = self.run()
        assert out is not None
        header = read_header(out)
        assert crc_matches(header, memoryview(out))
        assert header.size_bytes == len(out)
        found = list(iter_records(header, memoryview(out)))
        assert len(found) == header.count
        return found


def three(codec: int = 0, **more: object) -> memoryview:
    return keyed([(K, b"1"), (L, b"2"), (K, b"3")], codec=codec, **more)  # type: ignore[arg-type]


def test_a_batch_of_last_records_stays_the_very_same() -> None:
    batch = keyed([(K, b"1"), (L, b"2")])
    assert Case(batch, {K: 10, L: 11}).run() is batch


@pytest.mark.parametrize("codec", range(5))
def test_superseded_records_go_and_the_others_stay_as_they_are(codec: int) -> None:
    case = Case(three(codec), {K: 12, L: 11})
    out = case.run()
    assert out is not None
    before, after = read_header(case.batch), read_header(out)
    assert case.records() == [
        Record(11, NOW_MS + 1, L, b"2"),
        Record(12, NOW_MS + 2, K, b"3"),
    ]
    assert (after.base_offset, after.last_offset) == (before.base_offset, before.last_offset)
    assert after.codec == codec
    assert after.leader_epoch == before.leader_epoch


def test_a_rewritten_batch_keeps_what_its_producer_is_known_by() -> None:
    out = Case(three(producer=(7, 2, 40)), {K: 99, L: 11}).run()
    assert out is not None
    header = read_header(out)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 40)
    assert (header.last_offset_delta, header.count) == (2, 1)


def test_the_largest_timestamp_is_that_of_what_stays() -> None:
    out = Case(three(), {K: 99, L: 11}).run()
    assert out is not None
    assert read_header(out).max_timestamp == NOW_MS + 1


def test_log_append_time_stays() -> None:
    batch = three(attributes=LOG_APPEND_TIME)
    out = Case(batch, {K: 99, L: 11}).run()
    assert out is not None
    assert read_header(out).max_timestamp == read_header(batch).max_timestamp


def test_a_record_without_a_key_goes() -> None:
    assert [each.key for each in Case(keyed([(None, b"1"), (L, b"2")]), {L: 11}).records()] == [L]


def test_a_batch_of_which_nothing_stays_goes() -> None:
    assert Case(three(), {K: 99, L: 99}).run() is None
    assert Case(three(producer=(7, 0, 0)), {K: 99, L: 99}).run() is None


@pytest.mark.parametrize("codec", [0, 2])
def test_the_last_batch_of_a_producer_stays_even_when_empty(codec: int) -> None:
    batch = three(codec, producer=(7, 2, 40))
    out = Case(batch, {K: 99, L: 99}, is_last=True).run()
    assert out is not None
    header, before = read_header(out), read_header(batch)
    assert (header.count, header.codec, len(out)) == (0, 0, 61)
    assert crc_matches(header, memoryview(out))
    assert header[6:7] + header[8:12] == before[6:7] + before[8:12]
    again = Case(memoryview(bytearray(out)), {}, is_last=True)
    assert again.run() is again.batch


def test_what_lies_behind_the_map_stays() -> None:
    batch = keyed([(K, b"1"), (None, b"2"), (L, None)])
    found = Case(batch, {K: 99, L: 99}, latest_offset=10).records()
    assert [each.offset for each in found] == [11, 12]


def tombstones(*pairs: Pair) -> memoryview:
    return keyed(pairs or [(K, None), (L, b"2")])


@pytest.mark.parametrize("codec", [0, 3])
def test_the_first_cleaning_of_a_tombstone_sets_its_delete_horizon(codec: int) -> None:
    case = Case(keyed([(K, None), (L, b"2")], codec=codec), {K: 10, L: 11})
    found = case.records()
    out = case.run()
    assert out is not None
    assert horizon_of(read_header(out)) == LATER_MS + 100
    assert read_header(out).attributes & DELETE_HORIZON
    assert found == [Record(10, NOW_MS, K, None), Record(11, NOW_MS + 1, L, b"2")]


def with_horizon() -> memoryview:
    out = Case(tombstones(), {K: 10, L: 11}).run()
    assert out is not None
    return memoryview(bytearray(out))


def test_before_its_horizon_a_tombstone_stays_as_it_is() -> None:
    batch = with_horizon()
    assert Case(batch, {K: 10, L: 11}, now_ms=LATER_MS + 99).run() is batch


def test_at_its_horizon_a_tombstone_goes_and_the_rest_stays() -> None:
    found = Case(with_horizon(), {K: 10, L: 11}, now_ms=LATER_MS + 100).records()
    assert found == [Record(11, NOW_MS + 1, L, b"2")]


def test_a_superseded_tombstone_goes_at_once() -> None:
    assert Case(tombstones((K, None)), {K: 11}).run() is None


def test_records_of_an_aborted_transaction_go_at_once() -> None:
    batch = three(producer=(7, 0, 0), attributes=TRANSACTIONAL)
    assert Case(batch, {K: 12, L: 11}, may_discard=True).run() is None


def test_a_marker_that_may_go_first_waits_for_its_horizon() -> None:
    batch = keyed(MARKER, producer=(7, 0, -1), attributes=TRANSACTIONAL | CONTROL)
    assert Case(batch, {}).run() is batch
    out = Case(batch, {}, may_discard=True).run()
    assert out is not None
    waiting = memoryview(bytearray(out))
    assert horizon_of(read_header(waiting)) == LATER_MS + 100
    assert Case(waiting, {}, may_discard=True, now_ms=LATER_MS + 99).run() is waiting
    assert Case(waiting, {}, may_discard=True, now_ms=LATER_MS + 100).run() is None
    assert Case(waiting, {}, may_discard=False, now_ms=LATER_MS + 100).run() is waiting

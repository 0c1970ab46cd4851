"""What the small files beside a log hold comes back as it was written, whatever it is.

Offset indexes, checkpoints and producer snapshots have theirs beside their other tests.
"""

import struct
from pathlib import Path
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.log import partition_metadata_file
from brokerd.log.end_transaction_marker import Marker, read_marker
from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.leader_epoch_file_cache import LeaderEpochFileCache
from brokerd.protocol.records import (
    CONTROL,
    DELETE_HORIZON,
    TRANSACTIONAL,
    Record,
    encode_batch,
    read_header,
)

in_tmp_path = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
int16 = st.integers(-(2**15), 2**15 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
offsets = st.integers(0, 2**62)
steps = st.lists(st.tuples(st.integers(1, 2**20), st.integers(1, 2**20)), max_size=30)


@in_tmp_path
@given(base=offsets, steps=steps)
def test_a_time_index(tmp_path: Path, base: int, steps: list[tuple[int, int]]) -> None:
    path = str(tmp_path / "timeindex")
    Path(path).unlink(missing_ok=True)
    index = TimeIndex(path, base)
    expected, at_ms, offset = [], 0, base
    for more_ms, more in steps:
        at_ms, offset = at_ms + more_ms, offset + more
        index.append(at_ms, offset)
        expected.append((at_ms, offset))
    index.flush()
    if expected:
        assert TimeIndex.load(path, base).entries(0, 100) == expected
        assert TimeIndex.load(path, base).last == expected[-1]


@st.composite
def aborted_transactions(draw: st.DrawFn) -> list[AbortedTxn]:
    """Entries as markers make them: each ends later, and the log is never stable to less."""
    found: list[AbortedTxn] = []
    last, stable = draw(offsets), 0
    for producer_id in draw(st.lists(offsets, max_size=20)):
        first = draw(st.integers(0, last))
        last += draw(st.integers(1, 2**20))
        stable = draw(st.integers(stable, last + 1))
        found.append(AbortedTxn(producer_id, first, last, stable))
    return found


@in_tmp_path
@given(entries=aborted_transactions(), start=st.integers(0, 20))
def test_an_index_of_aborted_transactions(
    tmp_path: Path, entries: list[AbortedTxn], start: int
) -> None:
    path = str(tmp_path / "txnindex")
    Path(path).unlink(missing_ok=True)
    start = min(start, len(entries))
    transaction_index.write(path, entries[:start], 0)
    transaction_index.write(path, entries, start)
    assert transaction_index.read(path) == entries


@in_tmp_path
@given(steps=steps)
def test_leader_epochs(tmp_path: Path, steps: list[tuple[int, int]]) -> None:
    (tmp_path / "leader-epoch-checkpoint").unlink(missing_ok=True)
    cache = LeaderEpochFileCache(str(tmp_path))
    expected, epoch, offset = [], 0, 0
    for later, more in steps:
        epoch, offset = epoch + later, offset + more
        cache.assign(epoch, offset)
        expected.append((epoch, offset))
    assert LeaderEpochFileCache(str(tmp_path)).entries == expected


@in_tmp_path
@given(topic_id=st.uuids(allow_nil=False))
def test_the_id_of_a_topic(tmp_path: Path, topic_id: UUID) -> None:
    partition_metadata_file.write(str(tmp_path), topic_id)
    assert partition_metadata_file.read(str(tmp_path)) == topic_id


@given(
    kind=st.sampled_from([0, 1]),
    coordinator_epoch=int32,
    producer=st.tuples(offsets, int16),
    base_offset=offsets,
    timestamp_ms=st.integers(0, 2**41),
    more=st.sampled_from([0, DELETE_HORIZON]),
)
def test_a_marker_that_ends_a_transaction(
    kind: int,
    coordinator_epoch: int,
    producer: tuple[int, int],
    base_offset: int,
    timestamp_ms: int,
    more: int,
) -> None:
    record = Record(
        0, timestamp_ms, struct.pack(">hh", 0, kind), struct.pack(">hi", 0, coordinator_epoch)
    )
    batch = encode_batch(
        [record], base_offset=base_offset, attributes=CONTROL | TRANSACTIONAL | more,
        producer_id=producer[0], producer_epoch=producer[1],
    )  # fmt: skip
    header = read_header(memoryview(batch))
    assert (header.producer_id, header.producer_epoch) == producer
    assert (header.base_offset, header.is_control, header.is_transactional) == (
        base_offset, True, True,
    )  # fmt: skip
    assert read_marker(header, batch) == Marker(kind == 0, coordinator_epoch)

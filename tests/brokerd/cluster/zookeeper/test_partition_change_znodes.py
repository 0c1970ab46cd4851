"""Entries of the change feed: they come back as written and never exceed their limit."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.cluster.zookeeper.partition_change_znodes import (
    ENTRY_BYTES_MAX,
    ChangeEntry,
    batches,
    decode_entry,
    encode_entry,
)
from brokerd.cluster.zookeeper.zk_data import NodeFormatError
from brokerd.replication.partition_state import PartitionState

_ids = st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple)


@st.composite
def _states(draw):
    topics = draw(st.dictionaries(st.sampled_from("abc"), st.uuids(), min_size=1))
    epoch = draw(st.integers(0, 1000))
    keys = st.tuples(st.sampled_from(sorted(topics)), st.integers(0, 50))
    return epoch, tuple(
        PartitionState(
            topic=topic,
            partition=index,
            topic_id=topics[topic],
            replicas=draw(_ids),
            adding=draw(_ids),
            removing=draw(_ids),
            leader=draw(st.integers(-1, 100)),
            leader_epoch=draw(st.integers(0, 2**31 - 1)),
            isr=draw(_ids),
            controller_epoch=epoch,
            version=draw(st.integers(0, 2**31 - 1)),
            is_new=draw(st.booleans()),
        )
        for topic, index in sorted(draw(st.sets(keys, max_size=10)))
    )


@given(_states(), st.dictionaries(st.sampled_from("xyz"), st.uuids()))
def test_an_entry_comes_back_as_it_was_written(drawn, deleted) -> None:
    epoch, states = drawn
    entry = ChangeEntry(
        number=8,
        previous=7,
        controller_epoch=epoch,
        states=states,
        deleted=tuple(deleted.items()),
    )
    assert decode_entry(encode_entry(entry)) == entry


def _state(topic: str, index: int) -> PartitionState:
    big = 2**31 - 1
    return PartitionState(
        topic=topic,
        partition=index,
        topic_id=UUID(int=index),
        replicas=(big, big, big),
        leader=big,
        leader_epoch=big,
        isr=(big, big, big),
        controller_epoch=big,
        version=big,
    )


@pytest.mark.parametrize("count", [1, 5_000])
def test_batches_keep_every_entry_below_the_limit_whatever_the_names(count: int) -> None:
    states = [_state("t" * 240 + str(index), index) for index in range(count)]
    cut = list(batches(states, 2_000))
    assert [state for batch in cut for state in batch] == states
    for number, batch in enumerate(cut):
        entry = ChangeEntry(
            number=number, previous=number - 1, controller_epoch=2**31 - 1, states=batch
        )
        assert len(encode_entry(entry)) <= ENTRY_BYTES_MAX


def test_a_batch_holds_no_more_states_than_asked() -> None:
    assert [len(b) for b in batches([_state("t", i) for i in range(5)], 2)] == [2, 2, 1]


@pytest.mark.parametrize("data", [b"", b"{}", b'{"number":1}', b"[1]", b"\xff"])
def test_what_is_no_entry_is_refused(data: bytes) -> None:
    with pytest.raises(NodeFormatError):
        decode_entry(data)

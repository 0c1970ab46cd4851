"""Keys and values of the internal topics, as the broker writes them."""

import json
import struct

import pytest

from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupValue,
    MemberValue,
    OffsetRecord,
    OffsetValue,
    encode_key,
    encode_value,
)
from monitoring.records.decoders import internal_topics
from monitoring.records.decoders.internal_topics import CONSUMER_OFFSETS, TOPICS, TRANSACTION_STATE


def decoded(record) -> tuple[dict, dict]:
    key, value = encode_key(record), encode_value(record)
    assert value is not None
    return (
        json.loads(internal_topics.key(CONSUMER_OFFSETS, key)),
        json.loads(internal_topics.value(CONSUMER_OFFSETS, key, value)),
    )


def test_a_commit_is_read():
    key, value = decoded(OffsetRecord("billing", "orders", 3, OffsetValue(41, 7, "note", 1_000)))
    assert key == {"group": "billing", "topic": "orders", "partition": 3}
    assert value == {
        "offset": 41, "leaderEpoch": 7, "metadata": "note", "commitTimestampMs": 1_000
    }  # fmt: skip


def test_a_group_is_read_with_what_its_members_are_assigned():
    assignment = struct.pack(">hih6siiii", 0, 1, 6, b"orders", 2, 0, 1, -1)
    member = MemberValue("m-1", None, "client", "/10.0.0.1", 300, 45, b"sub", assignment)
    key, value = decoded(
        GroupRecord("billing", GroupValue("consumer", 5, "range", "m-1", 99, (member,)))
    )
    assert key == {"group": "billing"}
    assert (value["generation"], value["protocol"], value["leader"]) == (5, "range", "m-1")
    assert value["members"][0]["clientId"] == "client"
    assert value["members"][0]["assigned"] == {"orders": [0, 1]}


def test_a_transaction_is_read():
    key = struct.pack(">hh4s", 0, 4, b"tx-1")
    value = struct.pack(">hqhibih6siiqq", 0, 9, 1, 60_000, 1, 1, 6, b"orders", 1, 2, 1_000, 900)
    assert json.loads(internal_topics.key(TRANSACTION_STATE, key)) == {"transactionalId": "tx-1"}
    read = json.loads(internal_topics.value(TRANSACTION_STATE, key, value))
    assert (read["state"], read["partitions"], read["producerId"]) == (
        "Ongoing", {"orders": [2]}, 9
    )  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "data", "why"),
    [
        *((topic, data, "the record ends early") for topic in TOPICS for data in (b"", b"\x00")),
        *((topic, b"\x00\x09abc", "version 9 is not known") for topic in TOPICS),
        (CONSUMER_OFFSETS, b"\x00\x01\x7f\xff", "the record ends early"),
        (TRANSACTION_STATE, b"\x00\x01\x7f\xff", "version 1 is not known"),
    ],
)
def test_what_is_damaged_or_of_an_unknown_version_is_refused(topic, data, why):
    with pytest.raises(ValueError, match=why):
        internal_topics.key(topic, data)
    with pytest.raises(ValueError, match=why):
        internal_topics.value(topic, b"\x00\x01", data)

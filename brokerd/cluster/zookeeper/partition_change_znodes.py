"""Changes of partitions, `/brokerd/changes/change_<number>`: how brokers hear of them. Together
these entries are the change feed.

    {"version": 1, "number": 7, "previous": 6, "controller_epoch": 3,
     "topics": {"<topic>": {"id": "<22 characters>", "partitions": [
         [index, replicas, adding, removing, leader, leader_epoch, isr, znode version, is_new],
         …]}},
     "deleted": {"<topic>": "<22 characters>", …}}

An entry has at most ENTRY_BYTES_MAX bytes (ZooKeeper takes 1 MiB) and is written after its states.
A reader whose last number is not `previous` has missed something and reloads everything. The znode
version orders the states of a partition, since ISR changes do not raise the leader epoch.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokerd.cluster.zookeeper.zk_data import NodeFormatError, dump, parse_topic_id, topic_id_text
from brokerd.replication.partition_state import PartitionState

ENTRY_BYTES_MAX = 512 * 1024
_ENVELOPE_BYTES = 256
_NUMBER_BYTES = 11
_TOPIC_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEntry:
    """Changed states, and deleted topics (with their ids) whose replicas must stop."""

    number: int
    previous: int
    controller_epoch: int
    states: tuple[PartitionState, ...] = ()
    deleted: tuple[tuple[str, UUID], ...] = ()


def encode_entry(entry: ChangeEntry) -> bytes:
    topics: dict[str, dict[str, Any]] = {}
    for state in entry.states:
        topic = topics.setdefault(
            state.topic, {"id": topic_id_text(state.topic_id), "partitions": []}
        )
        topic["partitions"].append(_row(state))
    data = dump(
        {
            "version": 1,
            "number": entry.number,
            "previous": entry.previous,
            "controller_epoch": entry.controller_epoch,
            "topics": topics,
            "deleted": {name: topic_id_text(topic_id) for name, topic_id in entry.deleted},
        }
    )
    assert len(data) <= ENTRY_BYTES_MAX, "batches() keeps entries below the limit"
    return data


def _row(state: PartitionState) -> list[Any]:
    return [
        state.partition,
        state.replicas,
        state.adding,
        state.removing,
        state.leader,
        state.leader_epoch,
        state.isr,
        state.version,
        int(state.is_new),
    ]


def decode_entry(data: bytes) -> ChangeEntry:
    """Raises NodeFormatError where the data are no entry."""
    try:
        value = json.loads(data)
        epoch = int(value["controller_epoch"])
        return ChangeEntry(
            number=int(value["number"]),
            previous=int(value["previous"]),
            controller_epoch=epoch,
            states=tuple(
                _state(name, parse_topic_id(topic["id"]), epoch, row)
                for name, topic in value["topics"].items()
                for row in topic["partitions"]
            ),
            deleted=tuple((name, parse_topic_id(i)) for name, i in value["deleted"].items()),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NodeFormatError(f"a change entry is not readable ({error!r})") from error


def _state(topic: str, topic_id: UUID, controller_epoch: int, row: list[Any]) -> PartitionState:
    index, replicas, adding, removing, leader, leader_epoch, isr, version, is_new = row
    return PartitionState(
        topic=topic,
        partition=index,
        topic_id=topic_id,
        replicas=tuple(replicas),
        adding=tuple(adding),
        removing=tuple(removing),
        leader=leader,
        leader_epoch=leader_epoch,
        isr=tuple(isr),
        controller_epoch=controller_epoch,
        version=version,
        is_new=bool(is_new),
    )


def batches(
    states: Sequence[PartitionState], count_max: int
) -> Iterator[tuple[PartitionState, ...]]:
    """Cuts states into runs of at most `count_max` that each fit into one entry."""
    batch: list[PartitionState] = []
    size_bytes = _ENVELOPE_BYTES
    for state in states:
        upper_bytes = _upper_bytes(state)
        if batch and (len(batch) == count_max or size_bytes + upper_bytes > ENTRY_BYTES_MAX):
            yield tuple(batch)
            batch, size_bytes = [], _ENVELOPE_BYTES
        batch.append(state)
        size_bytes += upper_bytes
    if batch:
        yield tuple(batch)


def _upper_bytes(state: PartitionState) -> int:
    """An upper bound of the size of a state in an entry, with its topic's heading."""
    ids = len(state.replicas) + len(state.adding) + len(state.removing) + len(state.isr)
    return len(state.topic) + _TOPIC_BYTES + _NUMBER_BYTES * (ids + 5) + 16

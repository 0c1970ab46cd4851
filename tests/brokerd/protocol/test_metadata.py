"""Metadata put together from encoded topics is the same as encoded at once."""

from typing import Any
from uuid import UUID

import pytest

from brokerd.protocol.messages import encode_response
from brokerd.protocol.metadata import encode_metadata, encode_topic

HEAD: dict[str, Any] = {
    "brokers": [{"node_id": 1, "host": "h", "port": 9092, "rack": None}],
    "cluster_id": "c",
    "controller_id": 1,
    "cluster_authorized_operations": 77,
}


def topic(name: str) -> dict[str, Any]:
    partitions = [
        {"error_code": 0, "partition_index": index, "leader_id": 1, "replica_nodes": [1]}
        for index in range(3)
    ]
    return {"name": name, "topic_id": UUID(int=5), "partitions": partitions}


@pytest.mark.parametrize("version", range(13))
@pytest.mark.parametrize("count", [0, 1, 200])
def test_spliced_topics_are_where_the_encoder_puts_them(version: int, count: int) -> None:
    topics = [topic(f"t{number}") for number in range(count)]
    whole = encode_response(3, version, {**HEAD, "topics": topics})
    encoded = [encode_topic(version, each) for each in topics]
    assert encode_metadata(version, HEAD, encoded) == whole

"""ListOffsets by hand, beside the schemas of kio."""

import pytest

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ADVERTISED, ApiKey, is_flexible
from brokerd.protocol.list_offsets import (
    ListOffsetsRequest,
    OffsetsOfPartition,
    RequestedPartition,
    RequestedTopic,
    decode_request,
    partition_encoder,
)

VERSIONS = range(1, ADVERTISED[ApiKey.LIST_OFFSETS][1] + 1)
HEADER_BYTES = 14  # without a client id


def encoded(version: int, fields: dict) -> bytes:
    frame = messages.encode_request(ApiKey.LIST_OFFSETS, version, fields, 1, None)
    return frame[HEADER_BYTES + is_flexible(ApiKey.LIST_OFFSETS, version) :]


def request(*topics: tuple[str, list[tuple[int, int, int]]]) -> dict:
    names = ("partition_index", "current_leader_epoch", "timestamp")
    found = [
        {"name": name, "partitions": [dict(zip(names, each, strict=True)) for each in partitions]}
        for name, partitions in topics
    ]
    return {"replica_id": -1, "isolation_level": 1, "topics": found}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_is_decoded_as_kio_encodes_it(version: int) -> None:
    asked = [(0, 7, -1), (3, -1, 1_700_000_000_000)]
    body = encoded(version, request(("a", asked), ("none", []), ("b", asked[:1])))
    found = decode_request(memoryview(body), version)
    rows = [(n, epoch if version >= 4 else -1, at_ms) for n, epoch, at_ms in asked]
    partitions = tuple(RequestedPartition(*row) for row in rows)
    topics = (
        RequestedTopic("a", partitions), RequestedTopic("none", ()),
        RequestedTopic("b", partitions[:1]),
    )  # fmt: skip
    assert found == ListOffsetsRequest(1 if version >= 2 else 0, topics)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_that_ends_too_early_does_not_parse(version: int) -> None:
    body = encoded(version, request(("a", [(0, 7, -1), (3, -1, -2)])))
    for end in range(len(body)):
        with pytest.raises(KafkaError):
            decode_request(memoryview(body)[:end], version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "answered",
    [OffsetsOfPartition(3, 0, 1_700_000_000_000, 1 << 40, 7), OffsetsOfPartition(0, 6)],
)
def test_an_answer_is_encoded_as_kio_does(version: int, answered: OffsetsOfPartition) -> None:
    fields = answered._asdict()
    del fields["offsets"]
    if version < 4:
        del fields["leader_epoch"]
    path = ("topics", "partitions")
    expected = messages.encode_item(ApiKey.LIST_OFFSETS, version, path, fields)
    assert partition_encoder(version)(answered) == expected

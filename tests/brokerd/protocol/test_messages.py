"""The message door against kio's own writer and reader, for every message that is served."""

import io
import subprocess
import sys
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.serial import entity_writer as kio_writer

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ADVERTISED
from brokerd.protocol.schema_writer import FieldShape, shapes

SERVED = [
    (int(key), version)
    for key, (low, high) in ADVERTISED.items()
    for version in range(low, high + 1)
    if messages.request_type(key, version) is not None
]
SAMPLES: dict[str, Any] = {
    "bool": True, "int8": -3, "int16": 300, "uint16": 40_000, "int32": -70_000, "int64": 1 << 40,
    "float64": 1.5, "error_code": 36, "timedelta_i32": 1500, "timedelta_i64": 2500,
    "datetime_i64": 1_700_000_000_123,
    "string": "été", "bytes": b"\x00\xff", "records": b"r" * 200,
    "uuid": UUID(int=0x1234_5678_9ABC_DEF0_1234_5678_9ABC_DEF0),
}  # fmt: skip


def sample(entity_type: type) -> dict[str, Any]:
    """A message of this class with every field set, as a handler would build it."""
    return {shape.name: _value(shape) for shape in shapes(entity_type)}


def _value(shape: FieldShape) -> Any:
    one = sample(shape.entity) if shape.entity else SAMPLES[shape.kafka_type]
    return [one, one] if shape.is_array else one


def plain(value: Any) -> Any:
    """A kio object as a handler would write it."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, timedelta):
        return round(value.total_seconds() * 1000)
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    return value


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_full_messages_come_back_as_they_were_written(key: int, version: int) -> None:
    request_type = messages.request_type(key, version)
    response_type = messages.response_type(key, version)
    assert request_type is not None
    assert response_type is not None
    request, response = sample(request_type), sample(response_type)
    frame = messages.encode_request(key, version, request, 7, "me")
    header_size = 4 + 8 + 2 + 2 + (1 if request_type.__flexible__ else 0)
    decoded = messages.decode_request(key, version, memoryview(frame)[header_size:])
    assert plain(decoded) == request
    body = messages.encode_response(key, version, response)
    answer = messages.response_frame(key, version, 7, body)
    assert plain(messages.decode_response(key, version, answer[4:])) == response


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_bytes_are_those_that_kio_writes(key: int, version: int) -> None:
    response_type = messages.response_type(key, version)
    assert response_type is not None
    body = messages.encode_response(key, version, sample(response_type))
    answer = messages.response_frame(key, version, 7, body)
    entity = messages.decode_response(key, version, answer[4:])
    buffer = io.BytesIO()
    kio_writer(response_type)(buffer, entity)  # type: ignore[type-var]
    assert buffer.getvalue() == body


def test_an_empty_tagged_array_is_left_out() -> None:
    response = sample(messages.response_type(1, 16)) | {"responses": [], "node_endpoints": []}
    without = {name: value for name, value in response.items() if name != "node_endpoints"}
    assert messages.encode_response(1, 16, response) == messages.encode_response(1, 16, without)


_INT64 = st.integers(-(2**63), 2**63 - 1)
_DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(), "int8": st.integers(-128, 127), "uint16": st.integers(0, 2**16 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1), "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": _INT64, "float64": st.floats(allow_nan=False), "error_code": st.sampled_from([0, 36]),
    "timedelta_i32": st.integers(0, 2**31 - 1), "timedelta_i64": st.integers(0, 2**40),
    "datetime_i64": st.integers(1, 2**41), "string": st.text(max_size=200),
    "bytes": st.binary(max_size=200), "records": st.binary(min_size=1, max_size=200),
    "uuid": st.uuids(),
}  # fmt: skip


def drawn(entity_type: type) -> st.SearchStrategy[dict[str, Any]]:
    """Any message of this class, as a handler would build it."""
    return st.fixed_dictionaries({shape.name: _drawn(shape) for shape in shapes(entity_type)})


def _drawn(shape: FieldShape) -> st.SearchStrategy[Any]:
    one = drawn(shape.entity) if shape.entity else _DRAWN[shape.kafka_type]
    many = st.lists(one, max_size=3) if shape.is_array else one
    return st.none() | many if shape.nullable and not shape.entity else many


@settings(max_examples=3 * settings().max_examples, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from(SERVED))
def test_whatever_is_in_a_message_it_comes_back(
    data: st.DataObject, served: tuple[int, int]
) -> None:
    request_type, response_type = (
        get(*served) for get in (messages.request_type, messages.response_type)
    )
    assert request_type is not None
    assert response_type is not None
    request, response = data.draw(drawn(request_type)), data.draw(drawn(response_type))
    frame = messages.encode_request(*served, request, 7, "me")
    header_size = 4 + 8 + 2 + 2 + (1 if request_type.__flexible__ else 0)
    assert plain(messages.decode_request(*served, memoryview(frame)[header_size:])) == request
    body = messages.encode_response(*served, response)
    entity = messages.decode_response(*served, messages.response_frame(*served, 7, body)[4:])
    assert plain(entity) == response
    buffer = io.BytesIO()
    kio_writer(response_type)(buffer, entity)  # type: ignore[type-var]
    assert buffer.getvalue() == body


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_missing_fields_get_their_defaults(key: int, version: int) -> None:
    body = messages.encode_response(key, version, {})
    messages.decode_response(key, version, messages.response_frame(key, version, 1, body)[4:])


@pytest.mark.parametrize("version", [2, 7])
def test_items_that_were_encoded_before_are_taken_as_they_are(version: int) -> None:
    rows = [{"partition_index": index, "error_code": 0, "offset": 5} for index in range(3)]
    path = ("topics", "partitions")
    encoded = [messages.encode_item(2, version, path, row) for row in rows]
    plain, mixed = (
        messages.encode_response(2, version, {"topics": [{"name": "t", "partitions": each}]})
        for each in (rows, [encoded[0], rows[1], encoded[2]])
    )
    assert mixed == plain


def test_a_field_of_another_version_is_dropped_and_a_mistyped_one_raises() -> None:
    fields_of_v7 = {"error_code": 0, "session_id": 9}
    assert messages.encode_response(1, 4, fields_of_v7) == messages.encode_response(1, 4, {})
    with pytest.raises(ValueError, match="eror_code"):
        messages.encode_response(1, 7, {"eror_code": 0})


def test_what_a_first_request_waits_for_is_its_own_version_alone() -> None:
    """To load a version of a message takes milliseconds, in which nobody else is served. Produce
    and Fetch, which have codecs of their own, wait for none."""
    code = """
import sys
from brokerd.protocol import messages
from brokerd.protocol.framing import parse_header
parse_header(memoryview(bytes([0, 1, 0, 13, 0, 0, 0, 1, 255, 255, 0])))
messages.response_frame(0, 9, 1, b"")
frame = messages.encode_request(2, 9, {"topics": []}, 1, None)
messages.decode_request(2, 9, frame[15:])
messages.encode_response(2, 9, {"throttle_time": 0, "topics": []})
names = [each.split(".") for each in sys.modules if each.startswith("kio.schema.")]
print(*{".".join(each[2:4]) for each in names if each[4:] == ["response"]})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "list_offsets.v9\n"


def test_a_request_that_is_cut_off_is_an_invalid_request() -> None:
    with pytest.raises(KafkaError) as caught:
        messages.decode_request(12, 0, b"\x00\x05ab")
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_an_unknown_version_is_an_unsupported_version() -> None:
    for call in (
        lambda: messages.encode_response(3, 99, {}),
        lambda: messages.encode_request(3, 99, {}, 1, None),
        lambda: messages.decode_request(3, 99, b""),
    ):
        with pytest.raises(KafkaError) as caught:
            call()
        assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION


METADATA_HEAD: dict[str, Any] = {
    "brokers": [{"node_id": 1, "host": "h", "port": 9092, "rack": None}],
    "cluster_id": "c",
    "controller_id": 1,
    "cluster_authorized_operations": 77,
}


def metadata_topic(name: str) -> dict[str, Any]:
    partitions = [
        {"error_code": 0, "partition_index": index, "leader_id": 1, "replica_nodes": [1]}
        for index in range(3)
    ]
    return {"name": name, "topic_id": UUID(int=5), "partitions": partitions}


@pytest.mark.parametrize("version", range(13))
@pytest.mark.parametrize("count", [0, 1, 200])
def test_encoded_topics_are_where_the_encoder_puts_them(version: int, count: int) -> None:
    topics = [metadata_topic(f"t{number}") for number in range(count)]
    whole = messages.encode_response(3, version, {**METADATA_HEAD, "topics": topics})
    encoded = [messages.encode_item(3, version, ("topics",), each) for each in topics]
    assert messages.encode_response(3, version, {**METADATA_HEAD, "topics": encoded}) == whole

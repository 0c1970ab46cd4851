"""Request headers, and the lengths inside bodies."""

import pytest

from brokerd.errors import KafkaError
from brokerd.protocol.array_length_check import ITEMS_MAX
from brokerd.protocol.framing import parse_header, skip_tags
from brokerd.protocol.messages import encode_request
from brokerd.protocol.schema_writer import write_uvarint


@pytest.mark.parametrize("client_id", [None, "", "rdkafka", "été"])
@pytest.mark.parametrize(("key", "version"), [(3, 1), (3, 12), (18, 0), (18, 3)])
def test_a_header_is_read_with_any_client_id(key: int, version: int, client_id: str | None) -> None:
    frame = memoryview(encode_request(key, version, {}, 42, client_id))[4:]
    header = parse_header(frame)
    assert header[:4] == (key, version, 42, client_id)
    assert header.body_position <= len(frame)


def test_tagged_fields_of_a_header_are_passed_over() -> None:
    frame = b"\x00\x03\x00\x0c\x00\x00\x00\x2a\xff\xff" + b"\x02\x00\x01x\x05\x02yy" + b"body"
    assert bytes(frame[parse_header(memoryview(frame)).body_position :]) == b"body"


@pytest.mark.parametrize("size", range(10))
def test_a_header_that_is_cut_off_is_refused(size: int) -> None:
    with pytest.raises(KafkaError):
        parse_header(memoryview(bytes(size)))


def test_a_client_id_longer_than_the_frame_is_refused() -> None:
    with pytest.raises(KafkaError):
        parse_header(memoryview(b"\x00\x03\x00\x01\x00\x00\x00\x2a\x00\x09abc"))


def test_tagged_fields_that_are_cut_off_are_refused() -> None:
    with pytest.raises(KafkaError):
        skip_tags(memoryview(b"\x01\x00\x09ab"), 0)


def test_more_tagged_fields_than_the_limit_are_refused() -> None:
    for count in (ITEMS_MAX, ITEMS_MAX + 1):
        out = bytearray()
        write_uvarint(out, count)
        run = memoryview(bytes(out) + b"\x63\x00" * count)
        if count > ITEMS_MAX:
            with pytest.raises(KafkaError, match="more than"):
                skip_tags(run, 0)
        else:
            assert skip_tags(run, 0) == len(run)

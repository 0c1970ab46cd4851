"""MessagePack and CBOR as JSON."""

from datetime import UTC, datetime

import cbor2
import msgpack
import pytest

from monitoring.records.decoders.msgpack_and_cbor import cbor, message_pack

VALUE = {"a": [1, 2.5, b"x", None, True], 3: "y"}
JSON = '{"a": [1, 2.5, "base64:eA==", null, true], "3": "y"}'


def test_both_are_read_as_json():
    assert message_pack(msgpack.packb(VALUE)) == JSON
    assert cbor(cbor2.dumps(VALUE)) == JSON


def test_what_json_lacks_is_text():
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert "2026-01-02T03:04:05" in message_pack(msgpack.packb(moment, datetime=True))
    assert "2026-01-02T03:04:05" in cbor(cbor2.dumps(moment))
    assert cbor(cbor2.dumps(float("inf"))) == '"inf"'
    assert cbor(cbor2.dumps(cbor2.CBORTag(99, 1))) == '{"tag": 99, "value": 1}'
    assert message_pack(msgpack.packb(msgpack.ExtType(9, b"x"))).startswith('{"extension": 9')


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x01\x02", "bytes behind the value"),
        (b"", "premature end"),
        (b"\x9b\x00\x00\x01\x00\x00\x00\x00\x00", "premature end"),
        (b"\x81" * 100_000, "nesting depth"),
        (b"\xc5\x82\x1a\x7f\xff\xff\xff\x01", "bigfloat"),
        (b"\xd8\x1c\x81\xd8\x1d\x00", "recursion depth"),
        (b"{", "premature end"),
    ],
)
def test_damaged_and_hostile_cbor_is_refused(data, why):
    with pytest.raises(ValueError, match=why):
        cbor(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x01\x02", "extra data"),
        (b"", "incomplete input"),
        (b"\xdd\xff\xff\xff\xff", "exceeds max_array_len"),
        (b"\x91" * 100_000, "StackError"),
        (b"\xc1", "FormatError"),
    ],
)
def test_damaged_and_hostile_message_pack_is_refused(data, why):
    with pytest.raises(ValueError, match=why):
        message_pack(data)

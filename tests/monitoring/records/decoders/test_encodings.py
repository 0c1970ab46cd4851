import uuid

import cbor2
import msgpack
import pytest

from monitoring.records.decoders.encodings import recognized


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (msgpack.packb({"a": 1, "b": [1.5, None]}), "msgpack"),
        (msgpack.packb(list(range(300))), "msgpack"),
        (cbor2.dumps({"a": 1, "b": [1.5, None]}), "cbor"),
        (cbor2.dumps([1, 2, 3]), "cbor"),
        (uuid.UUID("0f8fad5b-d9cb-469f-a165-70867728950e").bytes, "uuid"),
        (b"\x00\x00\x00\x2a", "int32"),
        (b"\xff" * 8, "int64"),
    ],
)
def test_an_encoding_is_recognized_by_the_bytes(data, name):
    assert recognized(data) == name


@pytest.mark.parametrize(
    "data",
    [
        cbor2.dumps({"a": 1}) + b"\x00",
        msgpack.packb({"a": 1})[:-1],
        b"\x80",
        b"\x01\xff\x00\x2a",
        b"\x00\x01",
        bytes(16),
    ],
)
def test_other_bytes_have_no_encoding(data):
    assert recognized(data) == ""

"""How bytes of a key or value can be read, by the names that forms and URLs use. Pure."""

from collections.abc import Callable
from contextlib import suppress

from monitoring.records.decoders import msgpack_and_cbor, numbers

AUTO, TEXT, HEX, BASE64 = "auto", "text", "hex", "base64"
# Encoding → its decoder, which returns a text or raises ValueError.
DECODERS: dict[str, Callable[[bytes], str]] = {
    "msgpack": msgpack_and_cbor.message_pack,
    "cbor": msgpack_and_cbor.cbor,
    "int16": numbers.int16,
    "int32": numbers.int32,
    "int64": numbers.int64,
    "float32": numbers.float32,
    "float64": numbers.float64,
    "uuid": numbers.uuid_text,
}
# First bytes of maps and lists.
_CONTAINERS = (
    ("msgpack", frozenset([*range(0x80, 0xA0), *range(0xDC, 0xE0)])),
    ("cbor", frozenset(range(0x80, 0xC0))),
)
IN_JSON = frozenset({"msgpack", "cbor"})  # their decoders return JSON


def recognized(data: bytes) -> str:
    """The encoding of binary data, as far as its bytes show it; "" = not known.

    MessagePack and CBOR: a map or list that ends with the data. Numbers have no such mark: only
    those with a first byte that small ones have, 00 or ff.
    """
    for name, firsts in _CONTAINERS:
        if len(data) > 1 and data[0] in firsts:
            with suppress(ValueError):
                DECODERS[name](data)
                return name
    # The version and the variant of RFC 9562.
    if len(data) == 16 and 1 <= data[6] >> 4 <= 8 and data[8] >> 6 == 0b10:
        return "uuid"
    if data[0] in (0x00, 0xFF):
        return {4: "int32", 8: "int64"}.get(len(data), "")
    return ""

"""How bytes of a key or value can be read, by the names that forms and URLs use. Pure."""

from collections.abc import Callable

from monitoring.records.decoders import numbers, structured

AUTO, TEXT, HEX, BASE64 = "auto", "text", "hex", "base64"
# Encoding → its decoder, which returns a text or raises ValueError.
DECODERS: dict[str, Callable[[bytes], str]] = {
    "msgpack": structured.message_pack,
    "cbor": structured.cbor,
    "int16": numbers.int16,
    "int32": numbers.int32,
    "int64": numbers.int64,
    "float32": numbers.float32,
    "float64": numbers.float64,
    "uuid": numbers.uuid_text,
}
IN_JSON = frozenset({"msgpack", "cbor"})  # their decoders return JSON

"""What a page shows of a key, value or header: the text and a preview. Pure.

The bytes are decoded as JSON, text, hex or as the user chose. Decoding never fails: bytes that are
neither JSON nor text nor of a recognized encoding are shown as hex. So are bytes that the chosen
decoder refuses, with its reason. Long data is truncated; its full size is shown.

A new format needs a function in monitoring/records/decoders/, its row in encodings.py there, and
its name here.
"""

import re
from base64 import b64encode
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.records.json_indentation import indented
from console.records.visible_text import visible
from monitoring.gateway.record_row import SchemaNote
from monitoring.records.decoders import encodings
from monitoring.records.decoders.encodings import AUTO, BASE64, DECODERS, HEX, TEXT
from monitoring.schema_registry import wire_format

# Encoding → its name on pages.
ENCODING_NAMES: dict[str, str | Promise] = {
    AUTO: _("Automatic"), TEXT: _("Text"), "msgpack": _("MessagePack"), "cbor": _("CBOR"),
    "int16": _("Integer, 16 bits"), "int32": _("Integer, 32 bits"),
    "int64": _("Integer, 64 bits"), "float32": _("Float, 32 bits"),
    "float64": _("Float, 64 bits"), "uuid": _("UUID"), HEX: _("Hex"), BASE64: _("Base64"),
}  # fmt: skip
SHOWN_CHARS_MAX = 20_000
HEX_BYTES_MAX = 512
PREVIEW_CHARS = 300
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROLS_SHARE_MAX = 0.2  # of a text; one with colour codes of a terminal has fewer


@dataclass(frozen=True, slots=True)
class ShownData:
    """Decoded data. `kind` is null, empty, json, text, hex or masked; `size_bytes` is the full
    size. `encoding` names the decoder; it is empty if `kind` says how the data was decoded.
    `failure` says why the decoder that the user chose refused the data.

    A part that is masked completely has the kind "masked" and no size. If other parts of the record
    are masked, `is_size_rounded` is True and the size is rounded.

    `text` can have several lines; `preview` is one line for a table. With a `schema`, the data is
    JSON that was decoded with it; or it could not be decoded, and the schema's note says why.
    """

    kind: str
    text: str
    size_bytes: int
    is_truncated: bool = False
    preview: str = ""
    is_size_rounded: bool = False
    encoding: str = ""
    failure: str = ""
    schema: SchemaNote | None = None
    # The id that a serializer with a schema registry may have written in front of binary data.
    possible_schema_id: int | None = None

    @property
    def encoding_name(self) -> str:
        return str(ENCODING_NAMES.get(self.encoding, self.encoding))


def decode(data: bytes | None, encoding: str = AUTO) -> ShownData:
    """Decode `data`, by default by its content; None is a null key or value (a tombstone)."""
    if data is None:
        return ShownData("null", text="", size_bytes=0)
    if not data:
        return ShownData("empty", text="", size_bytes=0)
    text = _as_text(data) if encoding == AUTO else None
    if encoding == AUTO and text is None:
        encoding = encodings.recognized(data) or HEX
    if encoding in DECODERS:
        return _by_decoder(data, encoding)
    if encoding == BASE64:
        return _of_text("text", b64encode(data).decode(), len(data), BASE64)
    if encoding == TEXT:
        return _of_text("text", data.decode(errors="replace"), len(data))
    if text is None:
        return _in_hex(data)
    pretty = indented(text, SHOWN_CHARS_MAX)
    if pretty is None:
        return _of_text("text", text, len(data))
    return replace(_of_text("json", pretty, len(data)), preview=_one_line(text))


def whole_text(data: bytes | None, encoding: str = AUTO) -> str:
    """All of the data as one text; null is empty. Raises ValueError if the decoder refuses it."""
    if not data:
        return ""
    if encoding == AUTO:
        encoding = encodings.recognized(data) if _as_text(data) is None else TEXT
    if encoding in DECODERS:
        return DECODERS[encoding](data)
    if encoding == BASE64:
        return b64encode(data).decode()
    return data.hex() if encoding == HEX else data.decode(errors="replace")


def decoded_json(text: str, size_bytes: int, encoding: str) -> ShownData:
    """The JSON that a decoder made of data with `size_bytes`."""
    found = _of_text("json", indented(text, SHOWN_CHARS_MAX) or text, size_bytes, encoding)
    return replace(found, preview=_one_line(text))


def refused_data(data: bytes, encoding: str, why: str) -> ShownData:
    """Data that a decoder refused, in hex, with the reason."""
    return replace(_in_hex(data), encoding=encoding, failure=why)


def _by_decoder(data: bytes, encoding: str) -> ShownData:
    try:
        text = DECODERS[encoding](data)
    except ValueError as error:
        return refused_data(data, encoding, str(error))
    if encoding in encodings.IN_JSON:
        return decoded_json(text, len(data), encoding)
    return _of_text("text", text, len(data), encoding)


def _of_text(kind: str, shown: str, size_bytes: int, encoding: str = "") -> ShownData:
    is_truncated = len(shown) > SHOWN_CHARS_MAX
    text, line = visible(shown[:SHOWN_CHARS_MAX]), _one_line(shown)
    return ShownData(
        kind, text, size_bytes, is_truncated=is_truncated, preview=line, encoding=encoding
    )


def _in_hex(data: bytes) -> ShownData:
    shown = data[:HEX_BYTES_MAX].hex(" ", -2)  # groups of two bytes
    return ShownData(
        "hex",
        shown,
        len(data),
        is_truncated=len(data) > HEX_BYTES_MAX,
        preview=shown[:PREVIEW_CHARS],
        possible_schema_id=wire_format.schema_id_of(data),
    )


def _one_line(text: str) -> str:
    return " ".join(visible(text[: 2 * PREVIEW_CHARS]).split())[:PREVIEW_CHARS]


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # Binary data can also be valid UTF-8: a zero byte first, or many control characters, tell.
    controls = len(_CONTROLS.findall(text))
    return None if text[0] == "\0" or controls > _CONTROLS_SHARE_MAX * len(text) else text

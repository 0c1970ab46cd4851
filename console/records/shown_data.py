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

from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext_lazy as _

from console.records.json_indentation import indented, is_json_container
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


@dataclass(frozen=True)
class ShownData:
    """Decoded data. `kind` is null, empty, json, text, hex or masked; `decoded` is the text before
    it is indented and truncated; `size_bytes` is the full size. `encoding` names the decoder; it is
    empty if `kind` says how the data was decoded. `failure` says why the decoder that the user
    chose refused the data.

    A part that is masked completely has the kind "masked" and no size. If other parts of the record
    are masked, `is_size_rounded` is True and the size is rounded.

    With a `schema`, the data is JSON that was decoded with it; or it could not be decoded, and the
    schema's note says why.
    """

    kind: str
    decoded: str
    size_bytes: int
    is_size_rounded: bool = False
    encoding: str = ""
    failure: str = ""
    schema: SchemaNote | None = None
    # The id that a serializer with a schema registry may have written in front of binary data.
    possible_schema_id: int | None = None

    @property
    def encoding_name(self) -> str:
        return str(ENCODING_NAMES.get(self.encoding, self.encoding))

    @property
    def preview(self) -> str:
        """One line for a table."""
        return " ".join(visible(self.decoded[: 2 * PREVIEW_CHARS]).split())[:PREVIEW_CHARS]

    @property
    def text(self) -> str:
        """The lines for a panel; JSON is indented. Not for tables: a hundred records take 10 ms."""
        return visible(self._lines[:SHOWN_CHARS_MAX])

    @property
    def is_truncated(self) -> bool:
        """Whether `text` is only the beginning."""
        if self.kind == "hex":
            return self.size_bytes > HEX_BYTES_MAX
        return len(self._lines) > SHOWN_CHARS_MAX

    @cached_property
    def _lines(self) -> str:
        if self.kind != "json":
            return self.decoded
        return indented(self.decoded, SHOWN_CHARS_MAX) or self.decoded


def decode(data: bytes | None, encoding: str = AUTO) -> ShownData:
    """Decode `data`, by default by its content; None is a null key or value (a tombstone)."""
    if data is None:
        return ShownData("null", decoded="", size_bytes=0)
    if not data:
        return ShownData("empty", decoded="", size_bytes=0)
    text = _as_text(data) if encoding == AUTO else None
    if encoding == AUTO and text is None:
        encoding = encodings.recognized(data) or HEX
    if encoding in DECODERS:
        return _by_decoder(data, encoding)
    if encoding == BASE64:
        return ShownData("text", b64encode(data).decode(), len(data), encoding=BASE64)
    if encoding == TEXT:
        return ShownData("text", data.decode(errors="replace"), len(data))
    if text is None:
        return _in_hex(data)
    return ShownData("json" if is_json_container(text) else "text", text, len(data))


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
    return ShownData("json", text, size_bytes, encoding=encoding)


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
    return ShownData("text", text, len(data), encoding=encoding)


def _in_hex(data: bytes) -> ShownData:
    shown = data[:HEX_BYTES_MAX].hex(" ", -2)  # groups of two bytes
    return ShownData(
        "hex",
        shown,
        len(data),
        possible_schema_id=wire_format.schema_id_of(data),
    )


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # Binary data can also be valid UTF-8: a zero byte first, or many control characters, tell.
    controls = len(_CONTROLS.findall(text))
    return None if text[0] == "\0" or controls > _CONTROLS_SHARE_MAX * len(text) else text

"""A record as pages show it: masked, then decoded, with the chosen fields as columns. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from console.records import shown_data
from console.records.column_paths import Fields
from console.records.display_options import DEFAULT, DisplayOptions
from console.records.shown_data import ShownData, decode
from console.records.visible_text import visible
from monitoring.gateway.record_row import RecordRow, SchemaNote
from monitoring.records.decoders import internal_topics
from monitoring.records.decoders.encodings import AUTO
from monitoring.records.mask_record import MASK, MASK_BYTES, mask, rounded_size

MASKED = ShownData("masked", decoded=MASK, size_bytes=0)


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record after masking and decoding; `columns` are the texts of the chosen fields."""

    partition: int
    offset: int
    timestamp_ms: int | None
    key: ShownData
    value: ShownData
    headers: tuple[tuple[str, ShownData], ...]
    columns: tuple[str | None, ...] = ()

    @property
    def is_masked(self) -> bool:
        """Whether a part of it is masked."""
        parts = (self.key, self.value, *(data for _name, data in self.headers))
        return any(data.kind == MASKED.kind or data.is_size_rounded for data in parts)


def shown_record(
    topic: str, record: RecordRow, targets: list[str], display: DisplayOptions = DEFAULT
) -> ShownRecord:
    """A record, masked and decoded. Masking one that is masked already changes nothing."""
    masked = mask(record, targets)

    def with_size(
        unmasked: bytes | None,
        masked_data: bytes | None,
        decoded: ShownData,
        note: SchemaNote | None = None,
    ) -> ShownData:
        """`decoded`, with a size that tells the user nothing about masked data."""
        size_bytes = decoded.size_bytes if note is None else note.size_bytes
        if not targets or unmasked is None:
            return replace(decoded, size_bytes=size_bytes, schema=note)
        # Without a size: it would be the size of the mask.
        if masked_data == MASK_BYTES:
            return MASKED
        size_bytes = rounded_size(len(unmasked) if note is None else size_bytes)
        return replace(decoded, size_bytes=size_bytes, is_size_rounded=True, schema=note)

    key, value = _parts(topic, masked, display)
    headers = zip(record.headers, masked.headers, strict=True)
    return ShownRecord(
        record.partition,
        record.offset,
        record.timestamp_ms,
        with_size(record.key, masked.key, key.decoded(), masked.key_schema),
        with_size(record.value, masked.value, value.decoded(), masked.value_schema),
        tuple(
            (visible(name), with_size(unmasked, data, decode(data)))
            for (name, unmasked), (_, data) in headers
        ),
        _columns(masked, key, value, display),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A key or value with its encoding; `to_json`: the decoder of an internal topic."""

    data: bytes | None
    encoding: str
    topic: str = ""
    to_json: Callable[[], str] | None = None

    def decoded(self) -> ShownData:
        if self.to_json is None or not self.data:
            return decode(self.data, self.encoding)
        try:
            return shown_data.decoded_json(self.to_json(), len(self.data), self.topic)
        except ValueError as error:
            return shown_data.refused_data(self.data, self.topic, str(error))

    def text(self) -> str:
        """All of it as text, also if it is long; empty if it cannot be decoded."""
        try:
            if self.to_json is not None and self.data:
                return self.to_json()
            return shown_data.whole_text(self.data, self.encoding)
        except ValueError:
            return ""


def _parts(topic: str, row: RecordRow, display: DisplayOptions) -> tuple[_Part, _Part]:
    """Key and value. An encoding that the user chose applies to the bytes as the topic has them."""
    is_internal = topic in internal_topics.TOPICS

    def part(
        encoding: str, data: bytes | None, raw: bytes | None, to_json: Callable[[], str]
    ) -> _Part:
        if encoding != AUTO:
            return _Part(raw, encoding)
        return _Part(data, AUTO, topic, to_json if is_internal else None)

    key, value = row.key or b"", row.value or b""
    return (
        part(display.key_as, row.key, row.raw_key, lambda: internal_topics.key(topic, key)),
        part(
            display.value_as,
            row.value,
            row.raw_value,
            lambda: internal_topics.value(topic, key, value),
        ),
    )


def _columns(
    row: RecordRow, key: _Part, value: _Part, display: DisplayOptions
) -> tuple[str | None, ...]:
    if not display.columns:
        return ()
    headers = [(name, shown_data.whole_text(data)) for name, data in row.headers]
    fields = Fields({"key": key.text, "value": value.text}, headers)
    texts = map(fields.text, display.columns)
    return tuple(None if text is None else visible(text) for text in texts)

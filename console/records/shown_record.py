"""A record as pages show it: masked, then decoded, with the chosen fields as columns. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from console.records import decode as decoding
from console.records.decode import Decoded, decode
from console.records.display import DEFAULT, DisplayOptions
from console.records.field_paths import Fields
from monitoring.gateway.records import RecordRow, SchemaNote
from monitoring.records.decoders import internal_topics
from monitoring.records.decoders.encodings import AUTO
from monitoring.records.masking import MASK, MASK_BYTES, mask, rounded_size

MASKED = Decoded("masked", MASK, 0, preview=MASK)


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record after masking and decoding; `columns` are the texts of the chosen fields."""

    partition: int
    offset: int
    timestamp_ms: int | None
    key: Decoded
    value: Decoded
    headers: tuple[tuple[str, Decoded], ...]
    columns: tuple[str | None, ...] = ()


def shown_record(
    topic: str, record: RecordRow, targets: list[str], display: DisplayOptions = DEFAULT
) -> ShownRecord:
    """A record, masked (again) and decoded."""
    masked = mask(record, targets)

    def part(
        whole: bytes | None, data: bytes | None, found: Decoded, note: SchemaNote | None = None
    ) -> Decoded:
        size_bytes = found.size_bytes if note is None else note.size_bytes
        if not targets or whole is None:
            return replace(found, size_bytes=size_bytes, schema=note)
        # Without a size: it would be the size of the mask.
        if data == MASK_BYTES:
            return MASKED
        size_bytes = rounded_size(len(whole) if note is None else size_bytes)
        return replace(found, size_bytes=size_bytes, is_size_rounded=True, schema=note)

    key, value = _parts(topic, masked, display)
    headers = zip(record.headers, masked.headers, strict=True)
    return ShownRecord(
        record.partition,
        record.offset,
        record.timestamp_ms,
        part(record.key, masked.key, key.decoded(), masked.key_schema),
        part(record.value, masked.value, value.decoded(), masked.value_schema),
        tuple((name, part(whole, data, decode(data))) for (name, whole), (_, data) in headers),
        _columns(masked, key, value, display),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A key or value with its encoding; `to_json`: the decoder of an internal topic."""

    data: bytes | None
    encoding: str
    topic: str = ""
    to_json: Callable[[], str] | None = None

    def decoded(self) -> Decoded:
        if self.to_json is None or not self.data:
            return decode(self.data, self.encoding)
        try:
            return decoding.of_json(self.to_json(), len(self.data), self.topic)
        except ValueError as error:
            return decoding.not_decoded(self.data, self.topic, str(error))

    def text(self) -> str:
        """All of it as text, also if it is long; empty if it cannot be decoded."""
        try:
            if self.to_json is not None and self.data:
                return self.to_json()
            return decoding.whole_text(self.data, self.encoding)
        except ValueError:
            return ""


def _parts(topic: str, row: RecordRow, display: DisplayOptions) -> tuple[_Part, _Part]:
    # An encoding that the user chose is that of the bytes in the topic.
    key = _Part(row.key if display.key_as == AUTO else row.raw_key, display.key_as, topic)
    is_auto = display.value_as == AUTO
    value = _Part(row.value if is_auto else row.raw_value, display.value_as, topic)
    if topic in internal_topics.TOPICS:
        if display.key_as == AUTO:
            key = replace(key, to_json=lambda: internal_topics.key(topic, row.key or b""))
        if display.value_as == AUTO:
            data = row.value or b""
            read = internal_topics.value
            value = replace(value, to_json=lambda: read(topic, row.key or b"", data))
    return key, value


def _columns(
    row: RecordRow, key: _Part, value: _Part, display: DisplayOptions
) -> tuple[str | None, ...]:
    if not display.columns:
        return ()
    headers = [(name, decoding.whole_text(data)) for name, data in row.headers]
    fields = Fields({"key": key.text, "value": value.text}, headers)
    return tuple(fields.text(path) for path in display.columns)

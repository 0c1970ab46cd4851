"""Lines of input to records, and records to lines of output, by the properties of Kafka's
LineMessageReader (`parse.key` …) and DefaultMessageFormatter (`print.key` …). Pure."""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brokerd.cli.options import CliError

Headers = list[tuple[str, bytes | None]]
Properties = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class InputRecord:
    key: bytes | None
    value: bytes | None
    headers: Headers


class LineReader:
    """Kafka's LineMessageReader: parses the lines of console-producer."""

    def __init__(self, properties: Properties) -> None:
        self._parse_key = _flag(properties, "parse.key")
        self._parse_headers = _flag(properties, "parse.headers")
        self._ignore_error = _flag(properties, "ignore.error")
        self._key_separator = properties.get("key.separator", "\t")
        self._delimiter = properties.get("headers.delimiter", "\t")
        self._between = properties.get("headers.separator", ",")
        self._header_key = properties.get("headers.key.separator", ":")
        self._null = properties.get("null.marker")
        self._check()

    def _check(self) -> None:
        named = (self._delimiter, self._between, self._header_key)
        if len(set(named)) < len(named) or self._null in (*named, self._key_separator):
            raise CliError("The separators and null.marker may not be equal")
        if not all((*named, self._key_separator)):
            raise CliError("A separator may not be empty")

    def parse(self, text: str, number: int) -> InputRecord:
        """The record of line `number`. Raises CliError where a separator is missing."""
        headers = key = None
        rest = text
        if self._parse_headers:
            headers, rest = self._split_off(
                rest, self._delimiter, "headers delimiter", number, text
            )
        if self._parse_key:
            key, rest = self._split_off(rest, self._key_separator, "key separator", number, text)
        return InputRecord(
            None if key is None else self._bytes(key),
            self._bytes(rest),
            [] if headers in (None, self._null) else self._headers(headers or "", number),
        )

    def _split_off(
        self, text: str, separator: str, what: str, number: int, line: str
    ) -> tuple[str | None, str]:
        before, found, after = text.partition(separator)
        if found:
            return before, after
        if self._ignore_error:
            return None, text
        raise CliError(f"No {what} found on line number {number}: '{line}'")

    def _headers(self, text: str, number: int) -> Headers:
        headers: Headers = []
        for pair in text.split(self._between):
            name, found, value = pair.partition(self._header_key)
            if not found and not self._ignore_error:
                raise CliError(
                    f"No header key separator found in pair '{pair}' on line number {number}"
                )
            headers.append((name, self._bytes(value) if found else None))
        return headers

    def _bytes(self, text: str) -> bytes | None:
        return None if text == self._null else text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ConsumedRecord:
    """A record that a consumer got; `timestamp_type` is None if it has no timestamp."""

    partition: int
    offset: int
    timestamp_type: str | None
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


RecordFormatter = Callable[[ConsumedRecord], bytes]
"""Gives the bytes that console-consumer prints for a record. Raises CliError."""


class DefaultFormatter:
    """Kafka's DefaultMessageFormatter."""

    def __init__(self, properties: Properties) -> None:
        self._timestamp = _flag(properties, "print.timestamp")
        self._partition = _flag(properties, "print.partition")
        self._offset = _flag(properties, "print.offset")
        self._headers = _flag(properties, "print.headers")
        self._key = _flag(properties, "print.key")
        self._value = _flag(properties, "print.value", "true")
        self._column = properties.get("key.separator", "\t").encode()
        self._line = properties.get("line.separator", "\n").encode()
        self._between = properties.get("headers.separator", ",").encode()
        self._null = properties.get("null.literal", "null").encode()
        self._of_key = _deserializer(properties, "key.deserializer")
        self._of_value = _deserializer(properties, "value.deserializer")
        self._of_header = _deserializer(properties, "headers.deserializer")

    def format(self, record: ConsumedRecord) -> bytes:
        """The record and line.separator. Raises CliError if a deserializer fails."""
        parts = []
        if self._timestamp:
            kind = record.timestamp_type
            parts.append(f"{kind}:{record.timestamp_ms}".encode() if kind else b"NO_TIMESTAMP")
        if self._partition:
            parts.append(b"Partition:%d" % record.partition)
        if self._offset:
            parts.append(b"Offset:%d" % record.offset)
        if self._headers:
            parts.append(self._header_text(record))
        if self._key:
            parts.append(self._text(record.key, self._of_key))
        if self._value:
            parts.append(self._text(record.value, self._of_value))
        return self._column.join(parts) + self._line if parts else b""

    def _header_text(self, record: ConsumedRecord) -> bytes:
        shown = [
            name.encode() + b":" + self._text(value, self._of_header)
            for name, value in record.headers
        ]
        return self._between.join(shown) or b"NO_HEADERS"

    def _text(self, data: bytes | None, deserialize: Callable[[bytes], bytes]) -> bytes:
        """The data deserialized; as in DefaultMessageFormatter null.literal is, too."""
        return deserialize(self._null if data is None else data)


def _number(layout: struct.Struct, name: str) -> Callable[[bytes], bytes]:
    def deserialize(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise CliError(f"Size of data received by {name} is not {layout.size}")
        return str(layout.unpack(data)[0]).encode()

    return deserialize


def _same(data: bytes) -> bytes:
    return data


_PACKAGE = "org.apache.kafka.common.serialization."
_NUMBERS = {"Short": ">h", "Integer": ">i", "Long": ">q", "Float": ">f", "Double": ">d"}
_DESERIALIZERS = {f"{kind}Deserializer": _same for kind in ("String", "ByteArray", "Bytes")} | {
    f"{kind}Deserializer": _number(struct.Struct(layout), f"{kind}Deserializer")
    for kind, layout in _NUMBERS.items()
}


def _deserializer(properties: Properties, name: str) -> Callable[[bytes], bytes]:
    text = properties.get(name, "StringDeserializer")
    short = text.removeprefix(_PACKAGE)
    if short not in _DESERIALIZERS:
        known = ", ".join(_PACKAGE + each for each in _DESERIALIZERS)
        raise CliError(f"{name}={text} is not built in; these are: {known}")
    return _DESERIALIZERS[short]


def _flag(properties: Properties, name: str, default: str = "false") -> bool:
    return properties.get(name, default).strip().lower() == "true"

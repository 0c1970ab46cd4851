"""Writes exported records as JSON Lines, CSV or Parquet. Pure.

A JSON line is a record as in a download (console/records/record_download.py); the last line has
the end:

    {"end": {"is_complete": false, "why": "limit", "records": 1000, "continue_at": "0:41,1:7", …}}

In Parquet the end is the metadata `aerie.export` of the file. CSV has no place for it.
"""

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from console.records import record_download
from monitoring.gateway.record_row import RecordRow
from monitoring.spreadsheet_formulas import without_formula

_CSV_COLUMNS = (
    "partition", "offset", "timestamp_ms", "key", "key_encoding", "value", "value_encoding",
    "headers",
)  # fmt: skip
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ROW_GROUP_ROWS = 10_000  # of Parquet
_SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", tz="UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())]))),
    ]
)


@dataclass(frozen=True, slots=True)
class ExportEnd:
    """How an export ended.

    `why`: complete, limit (of records or bytes), time, or error. `continue_at`: the value of the
    field “Continue at” that exports the rest; empty if nothing is left. `failures`: records on
    which the expression failed. `not_decoded`: records with a schema that could not be read.
    """

    is_complete: bool
    why: str
    records: int
    continue_at: str = ""
    error: str = ""
    failures: int = 0
    damaged_batches: int = 0
    partitions_not_read: dict[int, str] = field(default_factory=dict)
    not_decoded: int = 0


class Writer(ABC):
    """A format: what begins the file, its rows, and what ends it."""

    content_type: str
    suffix: str

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def begin(self) -> bytes:
        return b""

    @abstractmethod
    def rows(self, rows: Iterable[RecordRow]) -> bytes:
        """The bytes of these rows; a format may keep some back until a later call."""

    @abstractmethod
    def end(self, end: ExportEnd) -> bytes:
        """The rest of the file."""


class JsonLines(Writer):
    content_type, suffix = "application/x-ndjson", "jsonl"

    def rows(self, rows: Iterable[RecordRow]) -> bytes:
        return b"".join(record_download.as_json(self._topic, row) + b"\n" for row in rows)

    def end(self, end: ExportEnd) -> bytes:
        return json.dumps({"end": asdict(end)}).encode() + b"\n"


class Csv(Writer):
    """Keys and values are text or base64; the column behind each says which, or that it is null.

    A cell that a spreadsheet would run as a formula begins with an apostrophe, as in reports.
    """

    content_type, suffix = "text/csv; charset=utf-8", "csv"

    def begin(self) -> bytes:
        return self._lines([_CSV_COLUMNS])

    def rows(self, rows: Iterable[RecordRow]) -> bytes:
        return self._lines(
            (
                row.partition,
                row.offset,
                row.timestamp_ms,
                *_cells(row.key),
                *_cells(row.value),
                json.dumps([[name, _text(value)] for name, value in row.headers]),
            )
            for row in rows
        )

    def end(self, end: ExportEnd) -> bytes:
        return b""

    def _lines(self, rows: Iterable[tuple[Any, ...]]) -> bytes:
        file = io.StringIO()
        csv.writer(file).writerows(rows)
        return file.getvalue().encode("utf-8", "replace")


class Parquet(Writer):
    """Keys and values as they are, in bytes; those with a schema are the decoded JSON."""

    content_type, suffix = "application/vnd.apache.parquet", "parquet"

    def __init__(self, topic: str) -> None:
        super().__init__(topic)
        self._file = _Buffer()
        self._writer = pq.ParquetWriter(self._file, _SCHEMA, compression="zstd")
        self._unwritten: list[RecordRow] = []

    def rows(self, rows: Iterable[RecordRow]) -> bytes:
        self._unwritten += rows
        if len(self._unwritten) >= _ROW_GROUP_ROWS:
            self._write()
        return self._file.take()

    def end(self, end: ExportEnd) -> bytes:
        self._write()
        self._writer.add_key_value_metadata({"aerie.export": json.dumps(asdict(end))})
        self._writer.close()
        return self._file.take()

    def _write(self) -> None:
        rows, self._unwritten = self._unwritten, []
        if not rows:
            return
        columns = {
            "partition": [row.partition for row in rows],
            "offset": [row.offset for row in rows],
            "timestamp": [row.timestamp_ms for row in rows],
            "key": [row.key for row in rows],
            "value": [row.value for row in rows],
            "headers": [
                [{"name": name, "value": value} for name, value in row.headers] for row in rows
            ],
        }
        self._writer.write_table(pa.table(columns, _SCHEMA))


class _Buffer(io.RawIOBase):
    """A file in memory; `take` returns what was written since the last call."""

    def __init__(self) -> None:
        self._written, self._size = bytearray(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self._written += data
        self._size += size
        return size

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


def _cells(data: bytes | None) -> tuple[str, str]:
    """The cell of a key or value, and how it is encoded: text, base64 or null."""
    found = record_download.text_or_base64(data)
    if data is None or found is None:
        return "", "null"
    if "text" not in found or _CONTROLS.search(found["text"]):
        found = {"base64": b64encode(data).decode()}
    ((encoding, text),) = found.items()  # the only entry
    return without_formula(text), encoding


def _text(data: bytes | None) -> str | None:
    found = record_download.text_or_base64(data)
    if found is None:
        return None
    return found["text"] if "text" in found else f"base64:{found['base64']}"


FORMATS: dict[str, type[Writer]] = {"jsonl": JsonLines, "csv": Csv, "parquet": Parquet}


def writer_of(name: str, topic: str) -> Writer:
    """A writer of a format. Raises KeyError if there is no such format."""
    return FORMATS[name](topic)

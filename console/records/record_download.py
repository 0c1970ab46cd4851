"""Downloads of a record: its value as raw bytes, or the whole record as JSON.

Pure. In the JSON, data is text if it is UTF-8, else base64:

    {"topic": …, "partition": 0, "offset": 41, "timestamp_ms": …, "key": DATA, "value": DATA,
     "headers": [{"name": …, "value": DATA}]}        DATA = null | {"text": …} | {"base64": …}

DATA with a schema is the decoded JSON as text and has one more member,
"schema": {"id": …, "type": …, "subject": …, "version": …, "problem": …}; with a problem it was not
decoded. The download of a value has its raw bytes, unless a part of it is masked.
"""

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from monitoring.gateway.record_row import RecordRow, SchemaNote


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a download: content type and file suffix."""

    content_type: str
    suffix: str


# What can be downloaded of a record → its format.
FORMATS = {
    "record": Format("application/json", ".json"),
    "value": Format("application/octet-stream", ".value"),
}


def content(topic: str, record: RecordRow, part: str) -> bytes | None:
    """The content of the file of a part (FORMATS); None if the value is null."""
    return record.raw_value if part == "value" else as_json(topic, record)


def as_json(topic: str, record: RecordRow) -> bytes:
    """The whole record as one line of JSON, without a newline."""
    fields = {
        "topic": topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": _with_schema(record.key, record.key_schema),
        "value": _with_schema(record.value, record.value_schema),
        "headers": [
            {"name": name, "value": text_or_base64(value)} for name, value in record.headers
        ],
    }
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def _with_schema(data: bytes | None, note: SchemaNote | None) -> dict[str, Any] | None:
    found = text_or_base64(data)
    if found is None or note is None:
        return found
    names = ("type", "subject", "version", "problem")
    schema = {"id": note.schema_id} | {name: getattr(note, name) for name in names}
    return found | {"schema": schema}


def text_or_base64(data: bytes | None) -> dict[str, str] | None:
    """DATA of the JSON above."""
    if data is None:
        return None
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}

"""Downloads of a record: its value as raw bytes, or the whole record as JSON.

Pure. In the JSON, data is text if it is UTF-8, else base64:

    {"topic": …, "partition": 0, "offset": 41, "timestamp_ms": …, "key": DATA, "value": DATA,
     "headers": [{"name": …, "value": DATA}]}        DATA = null | {"text": …} | {"base64": …}
"""

import json
from base64 import b64encode
from dataclasses import dataclass

from monitoring.gateway.records import RecordRow


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a download: content type and file suffix."""

    content_type: str
    suffix: str


FORMATS = {
    "record": Format("application/json", ".json"),
    "value": Format("application/octet-stream", ".value"),
}


def content(topic: str, record: RecordRow, part: str) -> bytes | None:
    """The file's content; None if the value is null."""
    if part == "value":
        return record.value
    fields = {
        "topic": topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": text_or_base64(record.key),
        "value": text_or_base64(record.value),
        "headers": [
            {"name": name, "value": text_or_base64(value)} for name, value in record.headers
        ],
    }
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def text_or_base64(data: bytes | None) -> dict[str, str] | None:
    """Data for JSON."""
    if data is None:
        return None
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}

"""A record as a file: its value byte for byte, or the whole of it as JSON.

Pure. Of the JSON, what is text stands there as text, anything else as base64:

    {"topic": …, "partition": 0, "offset": 41, "timestamp_ms": …, "key": DATA, "value": DATA,
     "headers": [{"name": …, "value": DATA}]}        DATA = null | {"text": …} | {"base64": …}
"""

import json
from base64 import b64encode
from dataclasses import dataclass

from monitoring.gateway.records import RecordRow


@dataclass(frozen=True, slots=True)
class Part:
    """What can be taken of a record, and the kind of file that this is."""

    content_type: str
    suffix: str


PARTS = {
    "record": Part("application/json", ".json"),
    "value": Part("application/octet-stream", ".value"),
}


def of(topic: str, record: RecordRow, part: str) -> bytes | None:
    """The file's content; None where the value is null."""
    if part == "value":
        return record.value
    whole = {
        "topic": topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "key": _data(record.key),
        "value": _data(record.value),
        "headers": [{"name": name, "value": _data(value)} for name, value in record.headers],
    }
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "replace")


def _data(data: bytes | None) -> dict[str, str] | None:
    if data is None:
        return None
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}

"""Records from JSON Lines: one JSON object per line. Pure.

    {"key": DATA, "value": DATA, "headers": {"name": DATA} or [{"name": …, "value": DATA}],
     "partition": 0, "timestamp_ms": 1700000000000}

All members are optional except `value`. The `topic` and `offset` of a download are ignored; any
other member is refused, since a misspelt `key` would be lost. DATA is null, a text, any other JSON
value (written as compact JSON), or one of {"text": …}, {"base64": …}, {"hex": …}, {"json": …}, as
downloads and exports write it. Downloads and exports add the member `schema` to data that
have a schema: such data are refused if they were decoded, since the file does not have their bytes.

If keys or values have an encoder, then data is one of: null, which stays null; the JSON value that
is encoded, as it stands or as {"json": …}; or data that an export decoded, whose text is encoded.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.produce.data_formats import (
    BASE64,
    HEX,
    JSON,
    TEXT,
    InvalidData,
    parse,
    read_json,
    to_utf8,
)
from console.ui.kafka_number_limits import PARTITION_MAX
from monitoring.gateway.producing import NewRecord
from monitoring.gateway.record_row import Headers
from monitoring.schema_registry.exact_json import compact_json, exact_json, standard_json

Encode = Callable[[Any, str], bytes]  # a value and its JSON → bytes (FormEncoder.encode_value)
_TIMESTAMP_MAX = 2**53
_MEMBERS = ("key", "value", "headers", "partition", "timestamp_ms", "topic", "offset")
_WITH_SCHEMA = ({TEXT, "schema"}, {BASE64, "schema"})


def records(
    text: str,
    records_max: int,
    *,
    keeps_partitions: bool,
    keeps_times: bool,
    encoders: Mapping[str, Encode] | None = None,
) -> list[NewRecord]:
    """The records of a file. Raises InvalidData, which names the line but nothing of it."""
    found: list[NewRecord] = []
    for number, line in _lines(text):
        if len(found) == records_max:
            raise InvalidData(_("The file has more than %(n)d records.") % {"n": records_max})
        try:
            record = _record(line, encoders or {})
        except InvalidData as error:
            message = _("Line %(n)d: %(why)s")
            raise InvalidData(message % {"n": number, "why": error}) from error
        if record is None:
            continue
        partition = record.partition if keeps_partitions else None
        at_ms = record.timestamp_ms if keeps_times else None
        found.append(NewRecord(record.key, record.value, record.headers, partition, at_ms))
    if not found:
        raise InvalidData(_("The file has no records: write one JSON object per line."))
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: it also splits at characters that JSON allows inside of a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _record(line: str, encoders: Mapping[str, Encode]) -> NewRecord | None:
    """The record of a line; None for the last line of an export, which says where it ended."""
    try:
        fields = (exact_json if encoders else standard_json)(line)
    except ValueError as error:
        raise InvalidData(_("It is not valid JSON.")) from error
    except RecursionError as error:
        raise InvalidData(_("This JSON is nested too deeply.")) from error
    if not isinstance(fields, dict):
        raise InvalidData(_("It is not a JSON object."))
    if set(fields) == {"end"}:
        return None
    if "value" not in fields:
        raise InvalidData(_("The member “value” is missing. A tombstone has the value null."))
    if fields.keys() - set(_MEMBERS):
        message = _("It has a member that is none of: %(members)s.")
        raise InvalidData(message % {"members": ", ".join(_MEMBERS)})
    key, value = (
        _encoded(fields.get(name), encoders[name]) if name in encoders else _data(fields.get(name))
        for name in ("key", "value")
    )
    return NewRecord(
        key,
        value,
        _headers(fields.get("headers")),
        _integer(fields, "partition", PARTITION_MAX),
        _integer(fields, "timestamp_ms", _TIMESTAMP_MAX),
    )


def _encoded(value: Any, encode: Encode) -> bytes | None:
    """The bytes that an encoder makes of a key or value; None = null.

    `value` was parsed by `exact_json`, so no digit is lost.
    """
    if value is None:
        return None
    if note := _schema_note(value):
        if note["problem"] or not isinstance(value.get(TEXT), str):
            return _data(value)
        return encode(read_json(value[TEXT], exact_json), value[TEXT])
    if isinstance(value, dict) and value.keys() == {JSON}:
        value = value[JSON]
    try:
        return encode(value, to_utf8(compact_json(value)).decode())
    except RecursionError as error:
        raise InvalidData(_("This JSON is nested too deeply.")) from error


def _data(value: Any) -> bytes | None:
    """The bytes of a key, a value or a header without an encoder; None = null."""
    if value is None:
        return None
    if note := _schema_note(value):
        if not note["problem"]:
            text = _("It was decoded with a schema: the file does not have its bytes.")
            raise InvalidData(text)
        value = {name: data for name, data in value.items() if name != "schema"}
    if isinstance(value, dict) and len(value) == 1:
        [(kind, inner)] = value.items()
        if kind == JSON:
            return _compact_json(inner)
        if kind in (TEXT, BASE64, HEX) and isinstance(inner, str):
            return parse(inner, kind)
    return to_utf8(value) if isinstance(value, str) else _compact_json(value)


def _schema_note(value: Any) -> dict[str, Any] | None:
    """What a download or export says about the schema of data; None = nothing. If it has a problem,
    the data were not decoded, so the file has their bytes."""
    if not isinstance(value, dict) or value.keys() not in _WITH_SCHEMA:
        return None
    note = value["schema"]
    is_note = isinstance(note, dict) and {"id", "subject", "problem"} <= note.keys()
    return note if is_note else None


def _compact_json(value: Any) -> bytes:
    """Compact JSON. A Decimal (a line with an encoder has them) is written as a float."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
    return to_utf8(text)


def _headers(value: Any) -> Headers:
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple((name, _data(data)) for name, data in value.items())
    if isinstance(value, list) and all(_is_header(each) for each in value):
        return tuple((each["name"], _data(each.get("value"))) for each in value)
    raise InvalidData(_("“headers” must be an object, or a list of objects with name and value."))


def _is_header(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _integer(fields: dict[str, Any], name: str, value_max: int) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= value_max:
        raise InvalidData(_("“%(name)s” must be a number from 0 on.") % {"name": name})
    return value

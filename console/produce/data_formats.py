"""Converts what a user types as key, value or headers of a record to bytes, and back. Pure.

Headers are one per line, `name: value`. A value that begins with `base64:` or `hex:` is such data,
`null:` alone is a null value, and `text:` keeps what follows as it is.
"""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _

from monitoring.gateway.record_row import Headers
from monitoring.schema_registry.exact_json import standard_json

TEXT, JSON, BASE64, HEX, EMPTY, NULL = "text", "json", "base64", "hex", "empty", "null"
SCHEMA = "schema"  # JSON that is encoded with a schema (schema_data.py)
FORMATS = (TEXT, JSON, BASE64, HEX, EMPTY, NULL)
HEADERS_MAX = 100


class InvalidData(Exception):
    """The input is not data of its format; the message says why."""


def parse(text: str, data_format: str) -> bytes | None:
    """The bytes of a key or value; None = null. Raises InvalidData.

    Browsers send line ends as CR LF; a text has LF.
    """
    if data_format == NULL:
        return None
    if data_format == EMPTY:
        return b""
    text = text.replace("\r\n", "\n")
    return {TEXT: to_utf8, JSON: _json, BASE64: _base64, HEX: _hex}[data_format](text)


def as_text(data: bytes | None) -> tuple[str, str]:
    """(text, format) for a form; the inverse of `parse`."""
    if data is None:
        return "", NULL
    if not data:
        return "", EMPTY
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), BASE64
    is_typeable = all(char.isprintable() or char in "\t\n" for char in text)
    return (text, TEXT) if is_typeable else (base64.b64encode(data).decode(), BASE64)


def parse_headers(text: str) -> Headers:
    """The headers of a form. Raises InvalidData."""
    headers: list[tuple[str, bytes | None]] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise InvalidData(_("Line %(n)d is not “name: value”.") % {"n": number})
        try:
            headers.append((name.strip(), _header_value(value.removeprefix(" "))))
        except InvalidData as error:
            text = _("Line %(n)d: %(why)s")
            raise InvalidData(text % {"n": number, "why": error}) from error
    if len(headers) > HEADERS_MAX:
        raise InvalidData(_("Enter at most %(n)d headers.") % {"n": HEADERS_MAX})
    return tuple(headers)


def headers_as_text(headers: Headers) -> str:
    """The inverse of `parse_headers`, if the names allow that."""
    return "\n".join(f"{name}: {_header_text(value)}" for name, value in headers)


def form_can_hold_headers(headers: Headers) -> bool:
    """Whether a form can hold these headers unchanged."""
    try:
        return parse_headers(headers_as_text(headers)) == headers
    except InvalidData:
        return False


def _header_value(text: str) -> bytes | None:
    kind, colon, rest = text.partition(":")
    if colon and kind == NULL and not rest:
        return None
    parsers: dict[str, Callable[[str], bytes]] = {TEXT: to_utf8, BASE64: _base64, HEX: _hex}
    return parsers[kind](rest) if colon and kind in parsers else to_utf8(text)


def _header_text(value: bytes | None) -> str:
    text, data_format = as_text(value)
    if data_format == BASE64 or "\n" in text:
        return f"{BASE64}:{base64.b64encode(value or b'').decode()}"
    if data_format == NULL:
        return f"{NULL}:"
    kind, colon, _rest = text.partition(":")
    is_marked = colon and kind in (TEXT, BASE64, HEX, NULL)
    return f"{TEXT}:{text}" if is_marked else text


def to_utf8(text: str) -> bytes:
    """The text in UTF-8. Raises InvalidData."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidData(_("It contains a character that UTF-8 does not have.")) from error


def _json(text: str) -> bytes:
    read_json(text)
    return to_utf8(text)


def read_json(text: str, read: Callable[[str], Any] = standard_json) -> Any:
    """The value of JSON text. Raises InvalidData."""
    try:
        return read(text)
    except json.JSONDecodeError as error:
        text = _("It is not valid JSON: see line %(line)d, column %(column)d.")
        raise InvalidData(text % {"line": error.lineno, "column": error.colno}) from error
    except ValueError as error:
        text = _("It is not valid JSON: NaN, Infinity, or a number that is too large.")
        raise InvalidData(text) from error
    except RecursionError as error:
        raise InvalidData(_("This JSON is nested too deeply.")) from error


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidData(_("It is not valid base64.")) from error


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise InvalidData(_("It is not valid hex: two digits for each byte.")) from error

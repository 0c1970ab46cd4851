"""Decodes and encodes all messages without a codec of their own.

Requests are read as kio's frozen dataclasses (`request.topics[0].name`); responses are written from
nested dicts with kio's field names (`{"error_code": 0, "topics": [...]}`), see `schema_writer`.
Both directions exist, for clients. Extra bytes at the end are ignored, as by Kafka.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from struct import Struct
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import message_schemas
from brokerd.protocol.api_keys import known_flexible
from brokerd.protocol.array_length_check import checked_request
from brokerd.protocol.schema_writer import entity_writer, shapes, write_uvarint

_REQUEST_HEAD = Struct(">ihhi")
_RESPONSE_HEAD = Struct(">ii")
API_VERSIONS_KEY = 18
VERSIONS_MAX = 2048
"""Of all APIs together; a client that names unknown versions does not fill the memory."""


@lru_cache(VERSIONS_MAX)
def request_type(api_key: int, version: int) -> type | None:
    """kio's request class, or None where kio does not know that API or version."""
    try:
        return message_schemas.load_request_schema(api_key, version)
    except message_schemas.KioIndexError:
        return None


@lru_cache(VERSIONS_MAX)
def response_type(api_key: int, version: int) -> type | None:
    """kio's response class, or None where kio does not know that API or version."""
    try:
        return message_schemas.load_response_schema(api_key, version)
    except message_schemas.KioIndexError:
        return None


def decode_request(api_key: int, version: int, view: memoryview | bytes) -> Any:
    """The request whose body (after the header) starts `view`; KafkaError if it does not parse."""
    entity_type = request_type(api_key, version)
    if entity_type is not None:
        view = checked_request(entity_type, memoryview(view))
    return _decode(entity_type, view, 0)


def encode_response(api_key: int, version: int, fields: Mapping[str, Any]) -> bytes:
    """The response's body; the caller puts length, correlation id and header tags before it."""
    entity_type = response_type(api_key, version)
    if entity_type is None:
        raise _unsupported(api_key, version)
    return _encode(entity_type, api_key, fields, response_type)


def encode_item(
    api_key: int, version: int, path: tuple[str, ...], fields: Mapping[str, Any]
) -> bytes:
    """One item of the response's array at `path` (its own name behind those of the arrays around
    it), for `encode_response` to take as it is: so a long response is made in several turns."""
    return item_encoder(api_key, version, path)(fields)


@cache
def item_encoder(
    api_key: int, version: int, path: tuple[str, ...]
) -> Callable[[Mapping[str, Any]], bytes]:
    """As `encode_item`, for many items of one array."""
    entity: Any = response_type(api_key, version)
    for name in path:
        entity = next(shape.entity for shape in shapes(entity) if shape.name == name)
    write = entity_writer(entity)

    def encode(fields: Mapping[str, Any]) -> bytes:
        out = bytearray()
        write(out, fields)
        return bytes(out)

    return encode


@lru_cache(VERSIONS_MAX)
def request_is_flexible(api_key: int, version: int) -> bool:
    """Whether a request has compact lengths and tagged fields; so has its response then. Among
    unknown versions a newer ApiVersions counts, since it is answered."""
    flexible = known_flexible(api_key, version)
    if flexible is None:
        entity_type: Any = request_type(api_key, version)
        if entity_type is None:
            return api_key == API_VERSIONS_KEY and version > 0
        flexible = entity_type.__flexible__
    return flexible


def response_is_flexible(api_key: int, version: int) -> bool:
    """Whether a response header ends in tagged fields; that of ApiVersions never does."""
    return request_is_flexible(api_key, version) and api_key != API_VERSIONS_KEY


def response_frame(api_key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """Length, header and body, ready to be sent."""
    if response_is_flexible(api_key, version):
        return b"".join((_RESPONSE_HEAD.pack(len(body) + 5, correlation_id), b"\x00", body))
    return _RESPONSE_HEAD.pack(len(body) + 4, correlation_id) + body


def encode_request(
    api_key: int,
    version: int,
    fields: Mapping[str, Any],
    correlation_id: int,
    client_id: str | None,
) -> bytes:
    """A whole request frame: length, header, body."""
    entity_type = request_type(api_key, version)
    if entity_type is None:
        raise _unsupported(api_key, version)
    head = bytearray()
    name = None if client_id is None else client_id.encode()
    head += (-1 if name is None else len(name)).to_bytes(2, "big", signed=True)
    head += name or b""
    if entity_type.__flexible__:  # type: ignore[attr-defined]
        write_uvarint(head, 0)
    body = _encode(entity_type, api_key, fields, request_type)
    size = 8 + len(head) + len(body)
    return b"".join((_REQUEST_HEAD.pack(size, api_key, version, correlation_id), head, body))


def decode_response(api_key: int, version: int, view: memoryview | bytes) -> Any:
    """The response in a frame without its length; its first four bytes are the correlation id."""
    start = 5 if response_is_flexible(api_key, version) else 4
    return _decode(response_type(api_key, version), view, start)


def _decode(entity_type: type | None, view: memoryview | bytes, start: int) -> Any:
    if entity_type is None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "unknown API or version")
    try:
        read: Any = message_schemas.entity_reader(entity_type)
        return read(memoryview(view).toreadonly(), start)[0]
    except (message_schemas.DecodeError, ValueError, TypeError, OverflowError, KeyError) as error:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"{entity_type.__name__} does not parse: {error}"
        ) from error


def _encode(
    entity_type: type, api_key: int, fields: Mapping[str, Any], load: Callable[..., type | None]
) -> bytes:
    unknown = fields.keys() - _names(entity_type)
    if unknown and (never := _never_known(api_key, frozenset(unknown), load)):
        raise ValueError(f"{entity_type.__name__} has no field {', '.join(sorted(never))}")
    out = bytearray()
    entity_writer(entity_type)(out, fields)
    return bytes(out)


@cache
def _names(entity_type: type) -> frozenset[str]:
    return frozenset(shape.name for shape in shapes(entity_type))


@cache
def _never_known(
    api_key: int, names: frozenset[str], load: Callable[..., type | None]
) -> frozenset[str]:
    """Those that no version of this message has at its top level. To load a version takes
    milliseconds, and most names are in the newest, so the others are not loaded for nothing."""
    for version in sorted(
        message_schemas.schema_name_map[message_schemas.api_key_map[api_key]], reverse=True
    ):
        entity_type = load(api_key, version) if names else None
        if entity_type is not None:
            names -= _names(entity_type)
    return names


def _unsupported(api_key: int, version: int) -> KafkaError:
    return KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"API {api_key} has no version {version}")

"""MessagePack and CBOR as JSON text. Pure.

What JSON lacks becomes text: bytes as `base64:…`, times in ISO 8601, tags and extension types with
their number, keys that are not text as JSON.
"""

import json
import math
from base64 import b64encode
from datetime import date, datetime
from io import BytesIO
from typing import Any

import cbor2
import msgpack

_DEPTH_MAX = 100
_FAILURES = (ValueError, RecursionError, OverflowError, EOFError, TypeError, MemoryError)


def message_pack(data: bytes) -> str:
    """Raises ValueError if the bytes are not exactly one value in MessagePack."""
    try:
        value = msgpack.unpackb(data, strict_map_key=False, timestamp=3, raw=False)
        return _json(value)
    except (msgpack.UnpackException, *_FAILURES) as error:
        raise ValueError(_why(error)) from error


def cbor(data: bytes) -> str:
    """Raises ValueError if the bytes are not exactly one value in CBOR."""
    try:
        stream = BytesIO(data)
        value = cbor2.CBORDecoder(stream, max_depth=_DEPTH_MAX).decode()
        if stream.read(1):
            raise ValueError("there are bytes behind the value")
        return _json(value)
    except (cbor2.CBORError, *_FAILURES) as error:
        raise ValueError(_why(error)) from error


def _json(value: Any) -> str:
    return json.dumps(_jsonable(value), ensure_ascii=False)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_member(key): _jsonable(each) for key, each in value.items()}
    if isinstance(value, msgpack.ExtType):  # it is also a tuple, so it comes first
        return {"extension": value.code, "data": _jsonable(value.data)}
    if isinstance(value, list | tuple | set | frozenset):
        return [_jsonable(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes | bytearray):
        return f"base64:{b64encode(value).decode()}"
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, cbor2.CBORTag):
        return {"tag": value.tag, "value": _jsonable(value.value)}
    return str(value)  # for example Decimal, UUID, undefined


def _member(key: Any) -> str:
    return key if isinstance(key, str) else _json(key)


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__

"""The context of a request, and the type of handlers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from brokerd.errors import KafkaError


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The header of a request, and the name of the listener on which it came."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    listener: str
    peer_host: str


Fields = dict[str, Any]
Reply = Fields | bytes
"""The response's fields, or its body where a handler has a codec of its own."""

Handler = Callable[[RequestContext, Any], Reply | Awaitable[Reply]]
"""`(context, kio request) -> response fields`, plain function or coroutine function.

A plain function answers within the receive that brought the request; a coroutine becomes a task and
may wait (JoinGroup). Replies keep their order on the connection either way. A KafkaError becomes
the API's own error; any other exception is logged and answered as UNKNOWN_SERVER_ERROR.
"""


def error_part(error: KafkaError | None = None) -> Fields:
    """Error code and message of a request, or of one of its items, as most responses have them."""
    if error is None:
        return {"error_code": 0, "error_message": None}
    return {"error_code": int(error.code), "error_message": error.message}


def milliseconds(duration: timedelta) -> int:
    """kio's timedelta as whole milliseconds."""
    return round(duration.total_seconds() * 1000)

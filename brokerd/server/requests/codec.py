"""From a handler's answer, or whatever else became of it, to a reply of its API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import list_offsets_v0, messages
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.error_responses import error_fields
from brokerd.turns import in_thread

if TYPE_CHECKING:
    from brokerd.server.requests.context import Reply, RequestContext

logger = logging.getLogger(__name__)


_OWN_DECODERS: Mapping[tuple[int, int], Callable[[memoryview], Any]] = {
    (ApiKey.LIST_OFFSETS, 0): list_offsets_v0.decode_request,
}
"""Requests that kio does not know, by API and version."""


def decode_request(api_key: int, version: int, body: memoryview | bytes) -> Any:
    """The request in a frame without its header. Raises KafkaError where it does not parse."""
    own_decoder = _OWN_DECODERS.get((api_key, version))
    if own_decoder is not None:
        return own_decoder(memoryview(body))
    return messages.decode_request(api_key, version, body)


def as_kafka_error(error: BaseException, context: RequestContext) -> KafkaError:
    """What the client is answered. Only a KafkaError is the client's business; the rest is ours."""
    if isinstance(error, KafkaError):
        return error
    logger.error("API %s v%s failed", context.api_key, context.api_version, exc_info=error)
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "unexpected error in the broker, see its log")


def reply_frame(context: RequestContext, reply: Reply) -> bytes:
    """A handler's answer as a frame."""
    body = reply
    if not isinstance(body, bytes):
        body = messages.encode_response(context.api_key, context.api_version, body)
    return messages.response_frame(
        context.api_key, context.api_version, context.correlation_id, body
    )


def error_frame(context: RequestContext, request: Any, error: KafkaError) -> bytes:
    """The API's own error as a frame."""
    return reply_frame(context, error_fields(context.api_key, context.api_version, request, error))


async def made(is_large: bool, make: Callable[..., bytes], *args: Any) -> bytes:
    """A frame that one of these makes, by a thread where it may take long."""
    return await in_thread(make, *args) if is_large else make(*args)

"""Decodes requests, and encodes a handler's answer or error as a reply of its API."""

import logging
from collections.abc import Callable
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import in_thread
from brokerd.protocol import list_offsets, messages
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.error_responses import error_fields
from brokerd.server.requests.request_context import Reply, RequestContext

logger = logging.getLogger(__name__)


def decode_request(api_key: int, version: int, body: memoryview | bytes) -> Any:
    """The request in a frame without its header. Raises KafkaError if it does not parse."""
    if api_key == ApiKey.LIST_OFFSETS:
        return list_offsets.decode_request(memoryview(body), version)
    return messages.decode_request(api_key, version, body)


def as_kafka_error(error: BaseException, context: RequestContext) -> KafkaError:
    """The error that the client gets. An exception other than KafkaError is logged, and hidden from
    it."""
    if isinstance(error, KafkaError):
        return error
    logger.error("API %s v%s failed", context.api_key, context.api_version, exc_info=error)
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "unexpected error in the broker, see its log")


def reply_frame(context: RequestContext, reply: Reply) -> bytes:
    key, version = context.api_key, context.api_version
    if isinstance(reply, bytes):
        body = reply
    elif (key, version) == (ApiKey.LIST_OFFSETS, 0):
        body = list_offsets.encode_v0_response(reply["topics"])
    else:
        body = messages.encode_response(key, version, reply)
    return messages.response_frame(key, version, context.correlation_id, body)


def error_frame(context: RequestContext, request: Any, error: KafkaError) -> bytes:
    return reply_frame(context, error_fields(context.api_key, context.api_version, request, error))


async def encode_frame(is_large: bool, encode: Callable[..., bytes], *args: Any) -> bytes:
    """The frame that `encode` makes (`reply_frame`, `error_frame`); in a thread if it is large."""
    return await in_thread(encode, *args) if is_large else encode(*args)

"""What went wrong with the items of a request, as errors for clients (as Kafka's ApiError)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import TypeVar

from brokerd.cluster.controller.kafka_controller import DeposedError
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, MultiError
from brokerd.errors import ErrorCode, KafkaError

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Answer = TypeVar("Answer")
CONCURRENT_MAX = 32


def unreachable(error: Exception) -> KafkaError:
    """The error for a client when ZooKeeper was lost during its request."""
    logger.debug("ZooKeeper was not reachable during a request: %r", error)
    return KafkaError(
        ErrorCode.REQUEST_TIMED_OUT,
        "ZooKeeper is not reachable from this broker: whether the change was made is unknown, "
        "try again later",
    )


def as_kafka_error(error: Exception) -> KafkaError:
    if isinstance(error, KafkaError):
        return error
    if isinstance(error, DeposedError):
        return KafkaError(ErrorCode.NOT_CONTROLLER, "This broker is not the controller any more.")
    if isinstance(error, MultiError):
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error))
    return unreachable(error)


async def gather_results(
    one: Callable[[Item], Awaitable[Answer]], items: Mapping[str, Item]
) -> dict[str, Answer | KafkaError]:
    """Calls a function for each item, CONCURRENT_MAX at a time; returns the answers by name."""

    async def answer(item: Item) -> Answer | KafkaError:
        try:
            return await one(item)
        except (KafkaError, DeposedError, MultiError, *DISCONNECTED) as error:
            return as_kafka_error(error)

    answers: dict[str, Answer | KafkaError] = {}
    left = iter(items.items())
    while run := dict(islice(left, CONCURRENT_MAX)):
        answers |= zip(run, await asyncio.gather(*map(answer, run.values())), strict=True)
    return answers

"""Results of the items of a request: each has its own answer, or a KafkaError."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from brokerd.cluster.controller.service import DeposedError
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED
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
    return unreachable(error)


async def gather_results(
    one: Callable[[Item], Awaitable[Answer]], items: Sequence[Item]
) -> list[Answer | KafkaError]:
    """Calls a function for each item, CONCURRENT_MAX at a time; returns the answers in order."""

    async def answer(item: Item) -> Answer | KafkaError:
        try:
            return await one(item)
        except (KafkaError, DeposedError, *DISCONNECTED) as error:
            return as_kafka_error(error)

    answers: list[Answer | KafkaError] = []
    for start in range(0, len(items), CONCURRENT_MAX):
        run = items[start : start + CONCURRENT_MAX]
        answers += await asyncio.gather(*(answer(item) for item in run))
    return answers

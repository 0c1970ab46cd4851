"""Metadata of very many names."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from brokerd.cluster.metadata_image import MetadataImage, TopicInfo
from brokerd.errors import ErrorCode
from brokerd.protocol.messages import decode_response
from brokerd.server.api.metadata import MetadataHandlers
from brokerd.server.api.metadata_topic_cache import MetadataTopicCache
from tests.brokerd.server.group_broker import context

METADATA = 3
VERSION = 12


async def test_many_names_that_no_topic_has_are_told_in_order_and_others_served_meanwhile() -> None:
    image = MetadataImage()
    image.topics["t"] = TopicInfo(name="t", topic_id=UUID(int=5), partitions={})

    async def nothing(_: object) -> None:
        pass

    new_partition_wait = SimpleNamespace(is_awaited=lambda name: False, wait=nothing)
    cluster: Any = SimpleNamespace(image=image, new_partition_wait=new_partition_wait)
    handlers = MetadataHandlers(cluster, MetadataTopicCache(image), creates_topics=False)
    names = [*(f"t-{number}" for number in range(5_000)), "no/topic", "t"]
    topics = [SimpleNamespace(name=name, topic_id=None) for name in names]
    answer: Any = handlers.metadata(context(METADATA, VERSION), SimpleNamespace(topics=topics))
    order: list[str] = []

    async def long_one() -> bytes:
        body: bytes = answer if isinstance(answer, bytes) else await answer
        order.append("the long one")
        return body

    async def another() -> None:
        order.append("another")

    body, _ = await asyncio.gather(long_one(), another())
    assert order == ["another", "the long one"]
    told = decode_response(METADATA, VERSION, bytes(5) + body).topics
    assert [topic.name for topic in told] == names
    codes = [topic.error_code for topic in told]
    assert codes[-2:] == [ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.NONE]
    assert set(codes[:-2]) == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}

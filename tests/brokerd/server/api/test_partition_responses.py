"""Answers of many partitions, of which some wait until a thread has read something."""

from collections.abc import Awaitable
from typing import Any

from brokerd.log.io.page_cache import READS_MAX, NotInPageCache
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api.partition_responses import answer_partitions
from brokerd.server.background.pending_reads import LOGS_AT_ONCE_MAX, PendingReads
from brokerd.server.requests.request_context import Fields
from tests.brokerd.server.group_broker import context

PARTITIONS = 300
VERSION = 7
CONTEXT = context(ApiKey.LIST_OFFSETS, VERSION)


def decoded(answer: Fields) -> Any:
    body = encode_response(ApiKey.LIST_OFFSETS, VERSION, answer)
    return decode_response(ApiKey.LIST_OFFSETS, VERSION, bytes(5) + body).topics


class PendingRead:
    """What a partition lacks; it counts as open until it is released."""

    subject: object | None = None
    open = most_open = 0

    def __init__(self, loaded: set[int], partition: int) -> None:
        self._loaded = loaded
        self._partition = partition
        PendingRead.open += 1
        PendingRead.most_open = max(PendingRead.most_open, PendingRead.open)

    def load(self) -> None:
        self._loaded.add(self._partition)

    def release(self) -> None:
        PendingRead.open -= 1


async def test_answers_that_wait_come_in_their_places_with_few_files_open_at_a_time() -> None:
    reads, loaded = PendingReads(), set[int]()

    def answer(topic: str, asked: int, *, may_block: bool) -> Fields:
        if asked % 3 and asked not in loaded:
            raise NotInPageCache(PendingRead(loaded, asked))
        return {"partition_index": asked, "offset": len(topic)}

    topics = [("t", range(PARTITIONS)), ("uu", [1])]
    answered = answer_partitions(reads, CONTEXT, topics, answer)
    assert isinstance(answered, Awaitable)
    told = [
        (topic.name, [(each.partition_index, each.offset) for each in topic.partitions])
        for topic in decoded(await answered)
    ]
    assert told == [("t", [(each, 1) for each in range(PARTITIONS)]), ("uu", [(1, 2)])]
    assert (PendingRead.open, PendingRead.most_open) == (0, LOGS_AT_ONCE_MAX)
    await reads.stop()


async def test_what_cannot_be_read_is_waited_for_after_some_tries() -> None:
    reads, tries = PendingReads(), []

    def answer(topic: str, asked: int, *, may_block: bool) -> Fields:
        tries.append(may_block)
        if not may_block:
            raise NotInPageCache(PendingRead(set(), asked))
        return {"offset": 42}

    answered = answer_partitions(reads, CONTEXT, [("t", [1])], answer)
    assert isinstance(answered, Awaitable)
    ((row,),) = (topic.partitions for topic in decoded(await answered))
    assert row.offset == 42
    assert tries == [False] * (READS_MAX + 1) + [True]
    await reads.stop()

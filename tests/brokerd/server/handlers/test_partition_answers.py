"""Answers of many partitions, of which some wait until a thread has read something."""

from collections.abc import Awaitable

from brokerd.log.cold import READS_MAX, ColdError
from brokerd.server.cold_reads import LOGS_AT_ONCE_MAX, ColdReads
from brokerd.server.handlers.partition_answers import answer_partitions

PARTITIONS = 300


class Spot:
    """What a partition lacks; it counts as open until it is released."""

    subject: object | None = None
    open = most_open = 0

    def __init__(self, warmed: set[int], partition: int) -> None:
        self._warmed = warmed
        self._partition = partition
        Spot.open += 1
        Spot.most_open = max(Spot.most_open, Spot.open)

    def warm(self) -> None:
        self._warmed.add(self._partition)

    def release(self) -> None:
        Spot.open -= 1


async def test_answers_that_wait_come_in_their_places_with_few_files_open_at_a_time() -> None:
    reads, warmed = ColdReads(), set[int]()

    def answer(topic: str, asked: int, *, patient: bool) -> str:
        if asked % 3 and asked not in warmed:
            raise ColdError(Spot(warmed, asked))
        return f"{topic}-{asked}"

    answered = answer_partitions(reads, [("t", range(PARTITIONS)), ("u", [1])], answer)
    assert isinstance(answered, Awaitable)
    told = {each["name"]: each["partitions"] for each in (await answered)["topics"]}
    assert told == {"t": [f"t-{each}" for each in range(PARTITIONS)], "u": ["u-1"]}
    assert (Spot.open, Spot.most_open) == (0, LOGS_AT_ONCE_MAX)
    await reads.stop()


async def test_what_cannot_be_read_is_waited_for_after_some_tries() -> None:
    reads, tries = ColdReads(), []

    def answer(topic: str, asked: int, *, patient: bool) -> str:
        tries.append(patient)
        if not patient:
            raise ColdError(Spot(set(), asked))
        return "told"

    answered = answer_partitions(reads, [("t", [1])], answer)
    assert isinstance(answered, Awaitable)
    assert (await answered)["topics"] == [{"name": "t", "partitions": ["told"]}]
    assert tries == [False] * (READS_MAX + 1) + [True]
    await reads.stop()

"""ListOffsets and OffsetForLeaderEpoch where one partition's disk has failed."""

from collections.abc import Awaitable
from types import SimpleNamespace
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.handlers.offsets import offset_for_leader_epoch
from brokerd.turns import AT_ONCE_MAX


async def test_epochs_of_many_partitions_are_looked_up_in_turns_and_told_in_order() -> None:
    ends = SimpleNamespace(end_offset_for_epoch=lambda epoch, patient: (epoch, 42))
    broker: Any = SimpleNamespace(
        leader_of=lambda topic, index, epoch: ends, cold_reads=None
    )  # fmt: skip
    many = [
        SimpleNamespace(partition=index, current_leader_epoch=-1, leader_epoch=3)
        for index in range(AT_ONCE_MAX + 1)
    ]
    request = SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=many)])
    context: Any = None
    answer = offset_for_leader_epoch(broker, context, request)
    assert isinstance(answer, Awaitable)
    (topic,) = (await answer)["topics"]
    assert [each["partition"] for each in topic["partitions"]] == list(range(AT_ONCE_MAX + 1))


def test_a_failed_disk_fails_the_epochs_of_its_own_partitions_only() -> None:
    def end_of(index: int) -> Any:
        def end_offset_for_epoch(epoch: int, *, patient: bool) -> tuple[int, int]:
            if index == 0:
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
            return epoch, 42

        return SimpleNamespace(end_offset_for_epoch=end_offset_for_epoch)

    broker: Any = SimpleNamespace(
        leader_of=lambda topic, index, epoch: end_of(index), cold_reads=None
    )  # fmt: skip
    asked = [
        SimpleNamespace(partition=index, current_leader_epoch=-1, leader_epoch=3)
        for index in (0, 1)
    ]
    request = SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=asked)])
    context: Any = None
    answer: Any = offset_for_leader_epoch(broker, context, request)
    (topic,) = answer["topics"]
    failed, told = topic["partitions"]
    assert failed["error_code"] == ErrorCode.KAFKA_STORAGE_ERROR
    assert (told["error_code"], told["leader_epoch"], told["end_offset"]) == (0, 3, 42)

"""ListOffsets and OffsetForLeaderEpoch where one partition's disk has failed."""

from types import SimpleNamespace
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.handlers.offsets import offset_for_leader_epoch


def test_a_failed_disk_fails_the_epochs_of_its_own_partitions_only() -> None:
    def end_of(index: int) -> Any:
        def end_offset_for_epoch(epoch: int) -> tuple[int, int]:
            if index == 0:
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
            return epoch, 42

        return SimpleNamespace(end_offset_for_epoch=end_offset_for_epoch)

    broker: Any = SimpleNamespace(leader_of=lambda topic, index, epoch: end_of(index))
    asked = [
        SimpleNamespace(partition=index, current_leader_epoch=-1, leader_epoch=3)
        for index in (0, 1)
    ]
    request = SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=asked)])
    context: Any = None
    (topic,) = offset_for_leader_epoch(broker, context, request)["topics"]
    failed, told = topic["partitions"]
    assert failed["error_code"] == ErrorCode.KAFKA_STORAGE_ERROR
    assert (told["error_code"], told["leader_epoch"], told["end_offset"]) == (0, 3, 42)

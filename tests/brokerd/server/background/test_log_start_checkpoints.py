"""Log starts on disk before they are answered: shared writes, and a disk that refuses."""

import asyncio

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.offset_checkpoint_file import Done
from brokerd.server.background.log_start_checkpoints import LogStartCheckpoints


class Logs:
    """Stands in for LogManager: partitions 0-4 in one directory, writes that end when told."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, Done]] = []
        self.tasks = self

    def directory_of(self, topic: str, partition: int) -> str | None:
        return "/logs" if partition < 5 else None

    def save_log_starts(self, directory: str, done: Done) -> None:
        self.writes.append((directory, done))

    def end(self, error: OSError | None = None) -> None:
        """The last write has ended."""
        self.writes[-1][1](error)


def begun(saves: LogStartCheckpoints, *partitions: int) -> list[asyncio.Future[None]]:
    return [saves.save("t", index) for index in partitions]


async def test_who_asks_while_a_write_is_under_way_waits_for_the_next_one() -> None:
    logs = Logs()
    saves = LogStartCheckpoints(logs)  # type: ignore[arg-type]
    (first,) = begun(saves, 0)
    others = begun(saves, 1, 2, 3)
    assert len(logs.writes) == 1
    logs.end()
    await first
    assert not any(task.done() for task in others)
    assert len(logs.writes) == 2
    logs.end()
    await asyncio.gather(*others)
    assert len(logs.writes) == 2


async def test_a_disk_that_refuses_is_told_and_the_next_one_is_tried() -> None:
    logs = Logs()
    saves = LogStartCheckpoints(logs)  # type: ignore[arg-type]
    (first,) = begun(saves, 0)
    logs.end(OSError(28, "No space left on device", "/logs/x"))
    with pytest.raises(KafkaError) as caught:
        await first
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    (second,) = begun(saves, 0)
    logs.end()
    await second


async def test_a_partition_that_has_gone_is_not_led_here() -> None:
    with pytest.raises(KafkaError) as caught:
        LogStartCheckpoints(Logs()).save("t", 9)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER

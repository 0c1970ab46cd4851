"""flush.messages: what is not synced yet is not relied on."""

import errno
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.io.flush import FlushJob
from brokerd.log.log_context import LogContext
from brokerd.log.segments.log_segment import LogSegment
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager
from tests.brokerd.log.managers import crash, start
from tests.brokerd.log.support import NOW_MS, Disk, batch, open_log
from tests.brokerd.replication.support import state
from tests.support.manual_clock import ManualClock


def led(directory: Path, disk: Disk, messages: int) -> Partition:
    config = LogConfig(flush_messages=messages)
    log = open_log(directory, config, context=LogContext(submit=disk.append))
    partition = Partition("t", 0, 1, log)
    partition.apply(state(1, 1, replicas=(1,), isr=(1,)), NOW_MS)
    return partition


def test_records_are_visible_when_they_are_synced(tmp_path: Path) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 1)
    told: list[int] = []
    partition.listeners[lambda each: told.append(each.high_watermark)] = None
    partition.append([batch()], NOW_MS)
    assert (partition.log.log_end_offset, partition.high_watermark) == (1, 0)
    assert partition.synced_to == 0
    disk.work()
    assert (partition.log.recovery_point, partition.high_watermark) == (1, 1)
    assert partition.synced_to > 1
    assert told == [1]


def append_without_files(partition: Partition) -> list[AppendResult]:
    """Append a record whose sync cannot begin."""

    def refuse(segment: LogSegment) -> None:
        raise OSError(errno.EMFILE, "Too many open files", segment.directory)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LogSegment, "flush_indexes", refuse)
        return partition.append([batch()], NOW_MS)


def test_a_sync_that_cannot_begin_fails_no_append_and_begins_with_the_next(tmp_path: Path) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 1)

    (result,) = append_without_files(partition)
    assert (result.error, partition.high_watermark, disk.of(FlushJob)) == (None, 0, [])
    partition.append([batch()], NOW_MS)
    disk.work()
    assert partition.high_watermark == 2


def test_a_sync_that_another_asked_for_is_as_good(tmp_path: Path) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 1)
    append_without_files(partition)
    told: list[int] = []
    partition.listeners[lambda each: told.append(each.high_watermark)] = None
    partition.log.local.begin_flush(1)  # as by the clock
    assert partition.high_watermark == 0
    disk.work()
    assert (partition.high_watermark, partition.synced_to > 1, told) == (1, True, [1])


@pytest.mark.parametrize("messages", [10, INT64_MAX])
def test_what_the_settings_ask_for_no_more_is_not_waited_for(tmp_path: Path, messages: int) -> None:
    manager = start(tmp_path)
    replicas = ReplicaManager(manager, 1, ManualClock(NOW_MS))
    replicas.apply_states(
        [state(1, 1, replicas=(1,), isr=(1,))], configs={"t": LogConfig(flush_messages=1)}
    )
    (partition,) = replicas.all()
    append_without_files(partition)
    assert partition.high_watermark == 0
    replicas.reconfigure(partition, LogConfig(flush_messages=messages))
    assert partition.high_watermark == 1
    partition.append([batch()], NOW_MS)
    assert (partition.high_watermark, partition.synced_to > 2) == (2, True)
    crash(manager)


def test_what_arrives_during_a_sync_is_synced_together_by_the_next_one(tmp_path: Path) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 1)
    for _ in range(5):
        partition.append([batch()], NOW_MS)
    assert len(disk.of(FlushJob)) == 1
    disk.work()
    assert partition.high_watermark == 1
    assert len(disk.of(FlushJob)) == 1
    disk.work()
    assert partition.high_watermark == 5
    assert disk.of(FlushJob) == []


def test_below_the_number_nothing_is_waited_for(tmp_path: Path) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 3)
    partition.append([batch(2)], NOW_MS)
    assert (partition.high_watermark, disk.of(FlushJob)) == (2, [])
    partition.append([batch(1)], NOW_MS)
    assert partition.high_watermark == 2
    disk.work()
    assert partition.high_watermark == 3


def test_after_a_sync_that_failed_the_next_append_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk()
    partition = led(tmp_path, disk, 1)
    partition.append([batch()], NOW_MS)
    (flush,) = disk.of(FlushJob)
    disk.clear()
    flush.error = OSError(5, "Input/output error")  # type: ignore[attr-defined]
    flush.finish()
    assert partition.high_watermark == 0
    partition.append([batch()], NOW_MS)
    disk.work()
    assert partition.high_watermark == 2


def test_a_log_that_is_deleted_while_it_is_synced_fails_no_disk(tmp_path: Path) -> None:
    disk = Disk()
    failures: list[OSError] = []
    context = LogContext(submit=disk.append, on_failure=failures.append)
    log = open_log(tmp_path / "t-0", LogConfig(flush_messages=1), context=context)
    partition = Partition("t", 0, 1, log)
    partition.apply(state(1, 1, replicas=(1,), isr=(1,)), NOW_MS)
    partition.append([batch()], NOW_MS)
    partition.append([batch()], NOW_MS)  # is synced when the first one is
    partition.resign()
    log.abandon()
    (tmp_path / "t-0").rename(tmp_path / "t-0.deleted")
    disk.work()
    assert not disk.of(FlushJob)
    with pytest.raises(KafkaError) as told:  # somebody may have it in hand still
        log.read(0, 100, up_to=2, min_one_batch=True)
    assert told.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert failures == []

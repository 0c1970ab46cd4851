"""What is done by the clock takes a few milliseconds at a time, however many logs there are."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log import checkpoint_writer, log_manager, offset_checkpoint_file, scheduled_tasks
from brokerd.log.io.disk_jobs import RemoveJob, run_now
from brokerd.log.io.flush import FlushJob
from brokerd.log.log_manager import LogManager
from brokerd.log.offset_checkpoint_file import CheckpointJob
from brokerd.log.scheduled_tasks import DEFAULT_INTERVALS, INITIAL_DELAY_MS
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, Disk, batch, open_manager

COUNT = 10
CHECKPOINT_MS = NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def manager(tmp_path: Path, disk: Disk) -> Iterator[LogManager]:
    """Ten logs of one batch each."""
    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS, submit=disk.append)
    for partition in range(COUNT):
        log = manager.create("t", partition, TOPIC_ID, LogConfig(), NOW_MS)
        log.append([batch()], 0, NOW_MS)
        log.high_watermark = 1
    disk.work_off()
    yield manager
    manager.dirs.unlock()


def reconfigure(manager: LogManager, config: LogConfig) -> None:
    for partition in range(COUNT):
        manager.reconfigure("t", partition, config)


def test_a_round_of_retention_ends_before_the_next_begins(
    manager: LogManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduled_tasks, "RETENTION_SLICE", 3)
    monkeypatch.setattr(scheduled_tasks, "DELETION_WEIGHT", 0)
    reconfigure(manager, LogConfig(retention_ms=1))
    started = []
    for tick in range(4):  # so late that each tick could begin a round of its own
        now_ms = NOW_MS + INITIAL_DELAY_MS + tick * DEFAULT_INTERVALS.retention_interval_ms
        more = manager.tasks.tick_retention(now_ms)
        started.append((sum(log.log_start_offset for log in manager.all()), more))
    assert started == [(3, True), (6, True), (9, True), (10, False)]


def test_a_slice_of_retention_is_smaller_where_segments_go(
    manager: LogManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduled_tasks, "RETENTION_SLICE", 6)
    monkeypatch.setattr(scheduled_tasks, "DELETION_WEIGHT", 2)
    reconfigure(manager, LogConfig(retention_ms=1))
    assert manager.tasks.tick_retention(NOW_MS + INITIAL_DELAY_MS)
    assert sum(log.log_start_offset for log in manager.all()) == 2


def test_checkpoints_are_gathered_in_slices_and_written_when_they_say_something_new(
    manager: LogManager, disk: Disk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(checkpoint_writer, "SLICE", 4)
    tasks = manager.tasks
    assert [tasks.tick_checkpoints(CHECKPOINT_MS), len(disk)] == [True, 0]
    while tasks.tick_checkpoints(CHECKPOINT_MS):
        pass
    assert len(disk.of(CheckpointJob)) == 2
    disk.work_off()
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text().startswith("0\n10\n")
    again_ms = CHECKPOINT_MS + DEFAULT_INTERVALS.checkpoint_interval_ms
    while tasks.tick_checkpoints(again_ms):
        pass
    assert disk == []
    manager.all()[3].delete_records_before(1)
    again_ms += DEFAULT_INTERVALS.checkpoint_interval_ms
    while tasks.tick_checkpoints(again_ms):
        pass
    disk.work_off()
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == "0\n1\nt 3 1\n"


def test_a_checkpoint_that_could_not_be_written_is_written_again(
    manager: LogManager, disk: Disk, tmp_path: Path
) -> None:
    tasks = manager.tasks
    tasks.tick_checkpoints(CHECKPOINT_MS)
    for job in disk:
        job._error = OSError(5, "Input/output error", str(tmp_path))  # type: ignore[attr-defined]
        job.finish()
    disk.clear()
    tasks.tick_checkpoints(CHECKPOINT_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
    assert len(disk.of(CheckpointJob)) == 2


@pytest.fixture
def log_starts(manager: LogManager, tmp_path: Path) -> Callable[[], str]:
    """What the checkpoint says of partition 3."""

    def read() -> str:
        (line,) = (tmp_path / "log-start-offset-checkpoint").read_text().splitlines()[2:]
        return line

    for _ in range(COUNT):
        manager.all()[3].append([batch()], 0, NOW_MS)
    return read


def test_a_log_start_that_was_saved_stays_when_an_older_round_ends(
    manager: LogManager, disk: Disk, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path, log_starts: Callable[[], str],
) -> None:  # fmt: skip
    monkeypatch.setattr(checkpoint_writer, "SLICE", 4)
    tasks, log = manager.tasks, manager.all()[3]
    log.delete_records_before(5)
    while not tasks._log_starts._found.get(str(tmp_path)):
        assert tasks.tick_checkpoints(CHECKPOINT_MS)
    log.delete_records_before(10)
    tasks.save_log_starts(str(tmp_path), lambda error: None)
    while tasks.tick_checkpoints(CHECKPOINT_MS):
        pass
    disk.work_off()
    assert log_starts() == "t 3 10"


def test_a_round_that_is_written_late_is_not_taken_for_what_was_saved_since(
    manager: LogManager, disk: Disk, tmp_path: Path, log_starts: Callable[[], str]
) -> None:
    tasks, log = manager.tasks, manager.all()[3]
    log.delete_records_before(5)
    tasks.tick_checkpoints(CHECKPOINT_MS)
    log.delete_records_before(10)
    tasks.save_log_starts(str(tmp_path), lambda error: None)
    disk.work_off()
    log.log_start_offset = 5  # as that of a log that was made anew
    tasks.tick_checkpoints(CHECKPOINT_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
    disk.work_off()
    assert log_starts() == "t 3 5"


def test_log_starts_of_a_directory_that_went_offline_are_left_alone(
    manager: LogManager, disk: Disk, tmp_path: Path, log_starts: Callable[[], str]
) -> None:
    told: list[OSError | None] = []
    manager.all()[3].delete_records_before(2)
    manager.tasks.save_log_starts(str(tmp_path), told.append)
    disk.work_off()
    manager._dir_failed(str(tmp_path), OSError(errno.EIO, "Input/output error"))
    manager.take_failed()
    manager.tasks.save_log_starts(str(tmp_path), told.append)
    disk.work_off()
    assert [error and error.errno for error in told] == [None, errno.EIO]
    assert log_starts() == "t 3 2"


def no_memory(*args: object, **kwargs: object) -> None:
    raise MemoryError


def test_what_there_was_no_memory_for_is_not_taken_as_done(
    manager: LogManager, disk: Disk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(offset_checkpoint_file, "write_entries", no_memory)
    monkeypatch.setattr(os, "fdatasync", no_memory)
    told: list[OSError | None] = []
    log = manager.all()[3]
    log.local.begin_flush(1)
    manager.tasks.save_log_starts(str(tmp_path), told.append)
    for job in disk:
        with pytest.raises(MemoryError):
            run_now(job)
    assert log.recovery_point == 0
    assert [error and error.errno for error in told] == [errno.ENOMEM]


def test_a_flush_that_cannot_be_begun_holds_no_files(manager: LogManager, disk: Disk) -> None:
    log = manager.all()[3]
    log.roll(NOW_MS)
    disk.work_off()
    log.local.recovery_point = 0  # as if the sync of the roll had been cut short
    log.append([batch()], 0, NOW_MS)
    first, second = (segment.file for segment in log.local.segments.between(0, 2))
    pinned = first.pins
    second.close()
    second.path = "/there/is/none"
    with pytest.raises(KafkaError, match="/there/is/none"):
        log.local.begin_flush(2)
    assert first.pins == pinned


def test_no_more_flushes_than_the_disk_can_do_soon_are_begun(
    manager: LogManager, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduled_tasks, "FLUSHES_MAX", 4)
    reconfigure(manager, LogConfig(flush_messages=1))
    flushed = []
    for _ in range(3):
        more = manager.tasks.tick_flush(NOW_MS)
        assert manager.tasks.tick_flush(NOW_MS) is more
        flushed.append((len(disk.of(FlushJob)), more))
        disk.work_off()
    assert flushed == [(4, True), (4, True), (2, False)]
    assert all(log.recovery_point == 1 for log in manager.all())


def test_a_log_under_flush_is_not_flushed_again_meanwhile(manager: LogManager, disk: Disk) -> None:
    reconfigure(manager, LogConfig(flush_ms=1))
    for second in range(3):
        manager.tasks.tick_flush(NOW_MS + second * 1000)
    assert len(disk.of(FlushJob)) == COUNT


def test_one_removal_of_a_few_things_is_under_way_at_a_time(
    manager: LogManager, disk: Disk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scheduled_tasks, "REMOVALS_MAX", 4)
    for partition in range(COUNT):
        manager.delete("t", partition, NOW_MS)
    due_ms = NOW_MS + LogConfig().file_delete_delay_ms
    left = []
    while manager.tasks.tick_delete(due_ms):
        assert len(disk.of(RemoveJob)) == 1
        disk.work_off()
        left.append(len(list(tmp_path.glob("*-delete"))))
    disk.work_off()
    assert left == [6, 2]
    assert not list(tmp_path.glob("*-delete"))


def test_many_logs_are_made_durable_by_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    for partition in range(log_manager.SYNCED_SINGLY_MAX + 1):
        log = manager.create("t", partition, TOPIC_ID, LogConfig(), NOW_MS)
        log.append([batch()], 0, NOW_MS)

    def sync(path: str) -> bool:
        synced.append(path)
        return True

    monkeypatch.setattr(log_manager, "sync_filesystem", sync)
    manager.shutdown()
    assert synced == [str(tmp_path)]
    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    assert {log.log_end_offset for log in manager.all()} == {1}
    assert {log.recovery_point for log in manager.all()} == {1}
    manager.shutdown()


def test_a_directory_whose_file_system_cannot_be_synced_is_recovered_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> bool:
        raise OSError(5, "Input/output error", path)

    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    for partition in range(log_manager.SYNCED_SINGLY_MAX + 1):
        log = manager.create("t", partition, TOPIC_ID, LogConfig(), NOW_MS)
        log.append([batch()], 0, NOW_MS)
    monkeypatch.setattr(log_manager, "sync_filesystem", fail)
    manager.shutdown()
    assert not (tmp_path / ".kafka_cleanshutdown").exists()

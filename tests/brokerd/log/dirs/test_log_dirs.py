"""Log directories that fail, at the start and later: what goes offline, what serves on."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.dirs.log_dir import LogDirError
from brokerd.log.io.disk_jobs import DiskJob
from brokerd.log.log_manager import LogManager
from brokerd.log.scheduled_tasks import DEFAULT_INTERVALS
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, Events, batch, open_manager, records

CONFIG = LogConfig(segment_bytes=2000)
CHECKPOINT_MS = NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms
RETENTION_MS = NOW_MS + DEFAULT_INTERVALS.retention_interval_ms


def start(*directories: Path, **settings: Any) -> LogManager:
    return open_manager([str(d) for d in directories], 1, now_ms=NOW_MS, **settings)


def filled(tmp_path: Path, **settings: Any) -> LogManager:
    """Partition 0 of t in directory a, partition 1 in b, 20 records in each."""
    manager = start(tmp_path / "a", tmp_path / "b", **settings)
    for partition in (0, 1):
        log = manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
        for i in range(20):
            log.append([batch(size=300, timestamp_ms=NOW_MS + i)], 0, NOW_MS)
        log.high_watermark = 20
    return manager


def offsets_of(manager: LogManager, partition: int) -> list[int]:
    log = manager.get("t", partition)
    assert log is not None
    return [record.offset for record in records(log)]


def is_a_file(path: Path) -> None:
    path.write_text("")


def has_no_lock(path: Path) -> None:
    (path / ".lock").mkdir(parents=True)


def does_not_say_whose_it_is(path: Path) -> None:
    path.mkdir()
    (path / "meta.properties").write_text("junk")


def has_a_log_that_cannot_be_read(path: Path) -> None:
    (path / "t-1" / f"{0:020d}.log").mkdir(parents=True)
    (path / "t-1" / f"{0:020d}.log" / "something").touch()


@pytest.mark.parametrize(
    "spoil", [is_a_file, has_no_lock, does_not_say_whose_it_is, has_a_log_that_cannot_be_read]
)
def test_a_directory_that_cannot_be_used_is_named_and_the_others_serve(
    tmp_path: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path).shutdown()
    (tmp_path / "b").rename(tmp_path / "moved")
    spoil(tmp_path / "b")
    manager = start(tmp_path / "a", tmp_path / "b")
    assert list(manager.dirs.offline) == [str(tmp_path / "b")]
    assert f"the log directory {tmp_path / 'b'} is offline until" in caplog.text
    assert offsets_of(manager, 0) == list(range(20))
    assert manager.get("t", 1) is None
    with pytest.raises(KafkaError, match="may lie in a log directory that is offline") as caught:
        manager.create("t", 1, TOPIC_ID, CONFIG, NOW_MS, is_new=False)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert manager.create("new", 0, TOPIC_ID, CONFIG, NOW_MS).directory == str(tmp_path / "a/new-0")
    manager.shutdown()


@pytest.mark.parametrize("spoil", [is_a_file, has_no_lock, does_not_say_whose_it_is])
def test_without_any_directory_there_is_no_start(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    for name in ("a", "b"):
        spoil(tmp_path / name)
    with pytest.raises(LogDirError, match=f"no directory of .* can.*{tmp_path}/a.*{tmp_path}/b"):
        start(tmp_path / "a", tmp_path / "b")


def test_one_directory_by_two_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for other in ("a", "link", "../" + tmp_path.name + "/a"):
        with pytest.raises(LogDirError, match="names one directory twice"):
            start(tmp_path / "a", tmp_path / other)


def test_another_brokers_directory_is_never_passed_over(tmp_path: Path) -> None:
    open_manager([str(tmp_path / "b")], 2, now_ms=NOW_MS).shutdown()
    with pytest.raises(LogDirError, match="belongs to another broker"):
        start(tmp_path / "a", tmp_path / "b")
    start(tmp_path / "a").shutdown()


def appends(manager: LogManager) -> None:
    log = manager.get("t", 1)
    assert log is not None
    for _ in range(20):
        log.append([batch(size=300)], 0, NOW_MS)


def retains(manager: LogManager) -> None:
    manager.reconfigure("t", 1, LogConfig(segment_bytes=2000, retention_ms=1))
    manager.tasks.tick_retention(RETENTION_MS)


def deletes(manager: LogManager) -> None:
    manager.delete("t", 1, NOW_MS)


def truncates(manager: LogManager) -> None:
    log = manager.get("t", 1)
    assert log is not None
    log.truncate_to(3)


def deletes_records(manager: LogManager) -> None:
    log = manager.get("t", 1)
    assert log is not None
    log.delete_records_before(10)


def checkpoints(manager: LogManager) -> None:
    manager.tasks.tick_checkpoints(CHECKPOINT_MS)


def saves_log_starts(manager: LogManager) -> None:
    told: list[OSError | None] = []
    directory = manager.directory_of("t", 1)
    assert directory is not None
    manager.tasks.save_log_starts(directory, told.append)
    assert told[0] is not None


def creates(manager: LogManager) -> None:
    """A partition that finds no place in b is made in a."""
    manager.create("c", 0, TOPIC_ID, CONFIG, NOW_MS)
    log = manager.create("c", 1, TOPIC_ID, CONFIG, NOW_MS)
    assert log.directory.endswith("/a/c-1")


def looks_up(manager: LogManager) -> None:
    log = manager.get("t", 1)
    assert log is not None
    fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 3)


TASKS = [
    appends, retains, deletes, truncates, deletes_records, checkpoints, saves_log_starts, creates,
    looks_up,
]  # fmt: skip


@pytest.mark.parametrize("work", TASKS)
def test_an_error_of_the_disk_takes_its_directory_offline_wherever_it_comes_up(
    tmp_path: Path, work: Callable[[LogManager], None], caplog: pytest.LogCaptureFixture
) -> None:
    events = Events()
    manager = filled(tmp_path, on_event=events)
    for log in manager.all():
        log.close()
    told: list[bool] = []
    manager.on_failing = lambda: told.append(True)
    (tmp_path / "b").rename(tmp_path / "gone")
    with suppress(KafkaError):
        work(manager)
    assert told == [True]
    ((path, reason, partitions),) = manager.take_failed()
    assert (path, partitions) == (str(tmp_path / "b"), [("t", 1)])
    assert "No such file or directory" in reason
    assert caplog.text.count("1 partitions are not served") == 1
    assert events.kinds()[-1] == "log_dir_failed"
    assert manager.get("t", 1) is None
    assert offsets_of(manager, 0) == list(range(20))
    with pytest.raises(KafkaError, match="is offline"):
        manager.create("t", 1, TOPIC_ID, CONFIG, NOW_MS)
    tasks = manager.tasks
    for tick in (tasks.tick_checkpoints, tasks.tick_retention, tasks.tick_flush):
        tick(RETENTION_MS)
    assert manager.take_failed() == []
    manager.shutdown()
    (tmp_path / "gone").rename(tmp_path / "b")
    manager = start(tmp_path / "a", tmp_path / "b")
    assert len(offsets_of(manager, 0)) == 20
    if work not in (retains, deletes, truncates):
        assert offsets_of(manager, 1)[:20] == list(range(20))
    manager.shutdown()


def test_a_flush_that_fails_in_the_disk_thread_takes_its_directory_offline(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = filled(tmp_path, submit=jobs.append)
    for job in jobs:
        job.run()
        job.finish()
    del jobs[:]
    (tmp_path / "b").rename(tmp_path / "gone")
    is_a_file(tmp_path / "b")
    log = manager.get("t", 1)
    assert log is not None
    synced_to = log.recovery_point
    log.local.begin_flush(20)
    for job in jobs:
        job.run()
        assert manager.take_failed() == []
        job.finish()
    assert log.recovery_point == synced_to
    assert [failed.partitions for failed in manager.take_failed()] == [[("t", 1)]]
    manager.shutdown()


def test_a_process_out_of_descriptors_has_no_broken_disk(tmp_path: Path) -> None:
    manager = filled(tmp_path)
    log = manager.get("t", 1)
    assert log is not None
    error = log.failed(OSError(24, "Too many open files"))
    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert manager.take_failed() == []
    manager.shutdown()


def test_a_directory_that_cannot_be_closed_is_recovered_the_next_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = filled(tmp_path)
    (tmp_path / "b").rename(tmp_path / "gone")
    manager.shutdown()
    assert "could not be closed cleanly" in caplog.text
    assert (tmp_path / "a" / ".kafka_cleanshutdown").exists()
    (tmp_path / "gone").rename(tmp_path / "b")
    events = Events()
    manager = start(tmp_path / "a", tmp_path / "b", on_event=events)
    assert events.kinds() == ["recovery"]
    assert offsets_of(manager, 1) == list(range(20))
    manager.shutdown()

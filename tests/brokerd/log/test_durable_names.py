"""What is renamed, made or removed is durable before it is relied on: its directory is synced."""

import errno
import os
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.io.disk_jobs import SyncJob
from brokerd.log.offset_checkpoint_file import CheckpointJob
from tests.brokerd.log.cleaner.support import CompactedLog, keyed
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, Disk, batch, open_log, open_manager


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """For each directory synced so far: the names it had then."""
    seen: dict[str, set[str]] = {}
    real = os.fsync

    def sync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        if os.path.isdir(path):
            seen[path] = set(os.listdir(path))
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    return seen


def test_the_mark_of_a_clean_stop_is_there_or_gone_when_others_go_by_it(
    tmp_path: Path, synced: dict[str, set[str]]
) -> None:
    mark = ".kafka_cleanshutdown"
    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    assert "meta.properties" in synced[str(tmp_path)]
    manager.create("t", 0, TOPIC_ID, LogConfig(), NOW_MS).append([batch()], 0, NOW_MS)
    manager.shutdown()
    assert {mark, "recovery-point-offset-checkpoint"} <= synced[str(tmp_path)]
    manager = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    assert mark not in synced[str(tmp_path)]
    manager.shutdown()


def test_a_new_segment_is_synced_with_its_name_and_once(
    tmp_path: Path, synced: dict[str, set[str]]
) -> None:
    log = open_log(tmp_path)
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert f"{0:020d}.log" in synced.pop(str(tmp_path))
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert not synced
    log.roll(NOW_MS)
    log.append([batch()], 0, NOW_MS)
    log.flush()
    assert f"{2:020d}.log" in synced[str(tmp_path)]


def swapped(directory: Path) -> tuple[CompactedLog, Disk]:
    """A log whose cleaned segment has just taken its place, and what the disk is to do then."""
    disk = Disk()
    log = CompactedLog(directory, submit=disk.append)
    log.append(keyed([(b"k", b"1")]), keyed([(b"k", b"2")]))
    log.roll()
    disk.work_off()
    log.clean()
    assert log.content() == [(1, b"k", b"2")]
    return log, disk


def remove_old(log: CompactedLog, disk: Disk) -> list[str]:
    """Lets the time come for what was replaced to go; what is left of it."""
    log.manager.tasks.tick_delete(NOW_MS + 1)
    disk.work_off()
    return [path.name for path in Path(log.log.directory).glob("*.deleted")]


def test_what_a_compaction_replaced_goes_when_its_names_are_durable(
    tmp_path: Path, synced: dict[str, set[str]]
) -> None:
    log, disk = swapped(tmp_path)
    synced.clear()
    assert [type(job) for job in disk] == [SyncJob, CheckpointJob]
    checkpoint = disk.pop()
    log.manager.tasks.tick_delete(NOW_MS + 1)
    assert [type(job) for job in disk] == [SyncJob]
    disk.work()
    names = synced[log.log.directory]
    assert f"{0:020d}.log" in names
    assert not any(name.endswith((".swap", ".cleaned")) for name in names)
    assert remove_old(log, disk) == []
    disk.append(checkpoint)
    disk.work()
    assert log.checkpoint() == "0\n1\nt 0 2\n"


def test_what_a_compaction_replaced_stays_where_its_names_cannot_be_made_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, disk = swapped(tmp_path)

    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        disk.work()
    (failed,) = log.manager.take_failed()
    assert failed.path == str(tmp_path)
    assert remove_old(log, disk)


def test_names_of_a_log_that_was_deleted_meanwhile_need_not_be_durable(tmp_path: Path) -> None:
    log, disk = swapped(tmp_path)
    log.manager.delete("t", 0, NOW_MS)
    disk.work_off()
    assert not log.manager.take_failed()

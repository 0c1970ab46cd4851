"""What a checkpoint says of a deleted log is never taken for that of a log made anew."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from brokerd.log import checkpoint_file, checkpoint_writer
from brokerd.log.io.disk_jobs import SyncJob
from brokerd.log.io.flush import FlushJob
from brokerd.log.log_manager import LogManager
from brokerd.log.offset_checkpoint_file import CheckpointJob, OffsetCheckpointFile
from tests.brokerd.log.managers import CONFIG, crash, fill, start
from tests.brokerd.log.support import NOW_MS, Disk, batch, records, write_offsets

KEY = ("t", 0)
KEPT = ("u", 0)
Work = Callable[[LogManager, Disk, Callable[[], None]], None]


def make_anew(manager: LogManager) -> None:
    """Delete a log and have another of its name acknowledge records."""
    manager.delete("t", 0, NOW_MS)
    log = manager.create("t", 0, UUID(int=9), CONFIG, NOW_MS)
    for number in range(16):
        log.append([batch(size=300, timestamp_ms=NOW_MS + number)], 0, NOW_MS)


def written(manager: LogManager, disk: Disk, then: Callable[[], None]) -> None:
    manager.tasks.save_log_starts(manager.dirs.paths[0], lambda error: None)
    disk.work_off()
    then()


def submitted(manager: LogManager, disk: Disk, then: Callable[[], None]) -> None:
    manager.tasks.save_log_starts(manager.dirs.paths[0], lambda error: None)
    then()


def being_written(manager: LogManager, disk: Disk, then: Callable[[], None]) -> None:
    """The new file is there, and has not taken its place yet."""
    put = CheckpointJob._put

    def late(job: CheckpointJob, temporary: str, path: str) -> None:
        if path.endswith(checkpoint_file.LOG_START):
            then()
        put(job, temporary, path)

    manager.tasks.save_log_starts(manager.dirs.paths[0], lambda error: None)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(CheckpointJob, "_put", late)
        disk.work()


def gathered(manager: LogManager, disk: Disk, then: Callable[[], None]) -> None:
    """A round has asked the old log, and goes on."""
    tasks = manager.tasks
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(checkpoint_writer, "SLICE", 1)
        while not tasks._log_starts._found.get(manager.dirs.paths[0]):
            assert tasks.tick_checkpoints(NOW_MS)
        then()
        while tasks.tick_checkpoints(NOW_MS):
            pass
    disk.work()


@pytest.mark.parametrize("stand", [written, submitted, being_written, gathered])
@pytest.mark.parametrize("works_off", [False, True], ids=["at once", "later"])
def test_a_kill_takes_nothing_of_a_log_made_anew(
    tmp_path: Path, stand: Work, works_off: bool
) -> None:
    disk = Disk()
    manager = start(tmp_path, submit=disk.append)
    fill(manager)
    fill(manager, "u")
    for log in manager.all():
        log.delete_records_before(13)
    stand(manager, disk, lambda: make_anew(manager))
    if works_off:
        disk.work_off()
    crash(manager)
    manager = start(tmp_path)
    new, other = manager.get("t", 0), manager.get("u", 0)
    assert new is not None
    assert other is not None
    assert [record.offset for record in records(new)] == list(range(16))
    assert (new.log_start_offset, new.recovery_point) == (0, 0)
    if works_off or stand is written:
        assert other.log_start_offset == 13
    crash(manager)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def manager(tmp_path: Path, disk: Disk) -> Iterator[LogManager]:
    """Two logs, which every checkpoint names."""
    manager = start(tmp_path, submit=disk.append)
    fill(manager)
    fill(manager, "u")
    for name in checkpoint_file.ALL:
        write_offsets(manager, name, {KEY: 13, KEPT: 12})
    disk.work_off()
    yield manager
    manager.dirs.unlock()


@pytest.mark.parametrize("name", checkpoint_file.ALL)
def test_no_checkpoint_says_anything_of_an_older_log(
    manager: LogManager, tmp_path: Path, name: str
) -> None:
    manager.delete("t", 0, NOW_MS)
    manager.create("t", 0, UUID(int=9), CONFIG, NOW_MS)
    assert checkpoint_file.read_offsets(tmp_path / name) == {KEY: 0, KEPT: 12}


def test_nor_after_a_restart_that_came_before_the_log_was_made_anew(
    manager: LogManager, tmp_path: Path
) -> None:
    manager.delete("t", 0, NOW_MS)
    crash(manager)
    manager = start(tmp_path)
    for name in (checkpoint_file.CLEANER, checkpoint_file.HIGH_WATERMARK):
        manager.dirs.read(name)  # as their owners do
    manager.create("t", 0, UUID(int=9), CONFIG, NOW_MS)
    for name in checkpoint_file.ALL:
        assert checkpoint_file.read_offsets(tmp_path / name).get(KEY, 0) == 0
    crash(manager)


def test_logs_that_went_together_are_forgotten_together(
    manager: LogManager, tmp_path: Path, disk: Disk
) -> None:
    manager.delete("t", 0, NOW_MS)
    manager.delete("u", 0, NOW_MS)
    manager.create("t", 0, UUID(int=9), CONFIG, NOW_MS)
    disk.clear()
    manager.create("u", 0, UUID(int=9), CONFIG, NOW_MS)
    assert disk.of(SyncJob) == []
    assert checkpoint_file.read_offsets(tmp_path / checkpoint_file.LOG_START) == {KEY: 0, KEPT: 0}


@pytest.mark.parametrize("count", [2, 2 * checkpoint_file.LOOKED_FOR_MAX])
def test_of_the_others_what_was_said_stays(tmp_path: Path, count: int) -> None:
    path = tmp_path / "file"
    names = [f"{'t' * (1 + number % 3)} {number}" for number in range(count)]
    checkpoint_file.write_entries(path, [f"{name} 17" for name in names])
    file = OffsetCheckpointFile(str(path))
    gone = {("t", number) for number in range(0, count, 3)}
    file.forget(gone)
    assert checkpoint_file.read_offsets(file.path) == {
        (name.split()[0], number): 0 if number % 3 == 0 else 17 for number, name in enumerate(names)
    }


def test_files_are_synced_once_for_many_logs(manager: LogManager, disk: Disk) -> None:
    for topic in ("t", "u"):
        log = manager.get(topic, 0)
        assert log is not None
        log.topic_id = UUID(int=8)
        manager.create(topic, 0, UUID(int=9), CONFIG, NOW_MS)  # while the older one is there
    assert len(disk.of(SyncJob)) == len(checkpoint_file.ALL)
    disk.work_off()


def test_it_is_durable_before_anything_of_the_new_log(manager: LogManager, disk: Disk) -> None:
    make_anew(manager)
    log = manager.get("t", 0)
    assert log is not None
    log.local.begin_flush(log.log_end_offset)
    kinds = [type(job) for job in disk]
    assert kinds.index(FlushJob) > max(at for at, kind in enumerate(kinds) if kind is SyncJob)
    assert kinds.count(SyncJob) == len(checkpoint_file.ALL)
    disk.work_off()


def test_what_is_said_of_the_new_log_is_written_where_it_is_what_was_said_of_the_old_one(
    manager: LogManager, disk: Disk, tmp_path: Path
) -> None:
    tasks = manager.tasks
    tasks.write_checkpoints()
    before = checkpoint_file.read_offsets(tmp_path / checkpoint_file.RECOVERY_POINT)
    manager.delete("t", 0, NOW_MS)
    fill(manager)
    disk.work_off()
    tasks.write_checkpoints()
    assert checkpoint_file.read_offsets(tmp_path / checkpoint_file.RECOVERY_POINT) == before


def test_what_another_directory_says_of_a_log_is_not_believed(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    fill(manager)
    write_offsets(manager, checkpoint_file.HIGH_WATERMARK, {KEY: 5})
    (tmp_path / "b" / checkpoint_file.HIGH_WATERMARK).write_text("0\n1\nt 0 19\n")
    assert manager.dirs.read(checkpoint_file.HIGH_WATERMARK) == {KEY: 5}
    manager.shutdown()


def test_a_sync_that_fails_is_told(tmp_path: Path) -> None:
    told: list[OSError | None] = []
    (tmp_path / "no directory").touch()
    job = SyncJob(str(tmp_path / "no directory" / "file"), told.append)
    job.run()
    job.finish()
    assert [error and error.filename for error in told] == [str(tmp_path / "no directory" / "file")]


def test_what_another_directory_says_of_a_log_costs_it_nothing(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    fill(manager)
    fill(manager, "u")
    write_offsets(manager, checkpoint_file.HIGH_WATERMARK, {KEY: 5, KEPT: 7})
    at = {key: Path(log_dir.path) for key, log_dir in manager.dirs.of.items()}
    (at[KEPT] / checkpoint_file.LOG_START).write_text("0\n1\nt 0 19\n")
    manager.delete("u", 0, NOW_MS)
    crash(manager)
    manager = start(tmp_path / "a", tmp_path / "b")
    manager.create("u", 0, UUID(int=9), CONFIG, NOW_MS)
    assert manager.dirs.read(checkpoint_file.HIGH_WATERMARK)[KEY] == 5
    crash(manager)

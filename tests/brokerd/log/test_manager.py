"""All logs of a broker: directories, duties, stops."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from brokerd.log import checkpoints
from brokerd.log.checkpoint_job import CheckpointJob
from brokerd.log.context import DiskJob
from brokerd.log.housekeeping import DEFAULT_TIMES, FLUSH_LOOK_MS, INITIAL_DELAY_MS
from brokerd.log.log_config import LogConfig
from brokerd.log.log_dir import LogDirError
from brokerd.log.manager import LogManager
from brokerd.log.partition_log import PartitionLog
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, Events, batch, records

CONFIG = LogConfig(segment_bytes=2000)


def start(*directories: Path, **settings: Any) -> LogManager:
    return LogManager.open([str(d) for d in directories], 1, now_ms=NOW_MS, **settings)


def crash(manager: LogManager) -> None:
    """What is left of a killed process: its lock is gone, nothing was written or marked."""
    manager.dirs.unlock()


def fill(manager: LogManager, topic: str = "t", count: int = 20) -> None:
    log = manager.create(topic, 0, TOPIC_ID, CONFIG, NOW_MS)
    for i in range(count):
        log.append([batch(size=300, timestamp_ms=NOW_MS + i)], 0, NOW_MS)


def test_logs_are_there_again_after_a_clean_stop(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.shutdown(broker_epoch=7)
    assert (tmp_path / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":7}'
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n1\nt 0 20\n"
    manager = start(tmp_path)
    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    log = manager.get("t", 0)
    assert log is not None
    assert (log.topic_id, log.log_end_offset) == (TOPIC_ID, 20)
    assert [record.offset for record in records(log)] == list(range(20))
    manager.shutdown()


def test_logs_are_recovered_after_a_crash(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    crash(manager)
    events = Events()
    manager = start(tmp_path, on_event=events)
    log = manager.get("t", 0)
    assert log is not None
    assert [record.offset for record in records(log)] == list(range(20))
    assert events.kinds() == ["recovery"]
    manager.shutdown()


def test_a_log_that_cannot_be_closed_costs_those_of_other_directories_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    fill(manager, "t")
    fill(manager, "u")
    bad = manager.get("t", 0)
    assert bad is not None
    finish = PartitionLog.finish_writing

    def fail(log: PartitionLog) -> bool:
        if log is bad:
            raise OverflowError("signed integer is greater than maximum")
        return finish(log)

    monkeypatch.setattr(PartitionLog, "finish_writing", fail)
    manager.shutdown()
    marks = [path.parent for path in tmp_path.glob("*/.kafka_cleanshutdown")]
    assert marks == [tmp_path / name for name in "ab" if not bad.directory.startswith(
        str(tmp_path / name)
    )]


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
    hold += "print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / ".lock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(LogDirError, match="in use by another broker"):
            start(tmp_path)


@pytest.mark.parametrize("field", ["broker.id=2", "cluster.id=other"])
def test_another_brokers_directory_is_refused(tmp_path: Path, field: str) -> None:
    (tmp_path / "meta.properties").write_text(f"#\nversion=0\nbroker.id=1\n{field}\n")
    with pytest.raises(LogDirError, match=field):
        start(tmp_path, cluster_id="mine")
    start(tmp_path / "new", cluster_id="mine").shutdown()
    text = (tmp_path / "new" / "meta.properties").read_text()
    assert text == "version=0\nbroker.id=1\ncluster.id=mine\n"


def test_a_cluster_learnt_later_is_noted_in_every_directory(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    assert manager.dirs.cluster_id == ""
    manager.dirs.join("mine")
    assert manager.dirs.cluster_id == "mine"
    for name in ("a", "b"):
        assert "cluster.id=mine\n" in (tmp_path / name / "meta.properties").read_text()
    with pytest.raises(LogDirError, match="another cluster"):
        manager.dirs.join("other")
    manager.shutdown()


JUNK = [b"", b"junk\n", bytes(64), b"\xff\xfe\x00", b"0\n1\nt 0 many\n", b"0\nmany\n"]


@pytest.mark.parametrize("junk", [b"", b"junk", bytes(64), b"\xff\xfe", b"version=1\nnode.id=1\n"])
def test_a_directory_whose_owner_cannot_be_told_is_refused(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "meta.properties").write_bytes(junk)
    with pytest.raises(LogDirError, match=r"meta\.properties is not .*correct log\.dirs"):
        start(tmp_path)


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
        "replication-offset-checkpoint", "t-0/leader-epoch-checkpoint",
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_is_named_and_everything_is_there(
    tmp_path: Path, name: str, junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.shutdown()
    (tmp_path / name).write_bytes(junk)
    manager = start(tmp_path)
    manager.dirs.read(checkpoints.HIGH_WATERMARK)
    log = manager.get("t", 0)
    assert log is not None
    assert [record.offset for record in records(log)] == list(range(20))
    assert log.end_offset_for_epoch(0) == (0, 20)
    assert str(tmp_path / name) in caplog.text
    manager.shutdown()


def test_a_damaged_mark_of_a_clean_stop_counts_as_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for text, kinds in (("", []), ('{"version":0}', []), ("junk", ["recovery"])):
        manager = start(tmp_path)
        fill(manager)
        manager.shutdown()
        (tmp_path / ".kafka_cleanshutdown").write_text(text)
        events = Events()
        start(tmp_path, on_event=events).shutdown()
        assert events.kinds() == kinds
    assert ".kafka_cleanshutdown" in caplog.text


def test_partitions_are_spread_over_the_directories(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    for partition in range(4):
        manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
    assert len(list((tmp_path / "a").glob("t-*"))) == 2
    assert len(list((tmp_path / "b").glob("t-*"))) == 2
    manager.shutdown()
    manager = start(tmp_path / "a", tmp_path / "b")
    assert sorted(log.partition for log in manager.all()) == [0, 1, 2, 3]
    manager.shutdown()


def test_one_partition_in_two_directories_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "t-0").mkdir(parents=True)
    with pytest.raises(LogDirError, match="remove one of the two"):
        start(tmp_path / "a", tmp_path / "b")


def test_creating_a_log_twice_is_the_same_log(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    assert manager.create("t", 0, TOPIC_ID, LogConfig(retention_ms=5), NOW_MS) is log
    assert log.config.retention_ms == 5
    assert (tmp_path / "t-0" / "partition.metadata").read_text() == (
        "version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA"
    )
    manager.shutdown()


def test_a_deleted_log_is_gone_at_once_and_its_files_later(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager, "t" * 249)
    log = manager.get("t" * 249, 0)
    assert log is not None
    found = log.read(0, 100, up_to=20, min_one_batch=True)
    manager.delete("t" * 249, 0, NOW_MS)
    assert manager.all() == []
    (renamed,) = tmp_path.glob("*-delete")
    manager.duties.tick_delete(NOW_MS + CONFIG.file_delete_delay_ms - 1)
    assert renamed.exists()
    manager.duties.tick_delete(NOW_MS + CONFIG.file_delete_delay_ms)
    assert not renamed.exists()
    assert found is not None
    found.release()
    assert manager.create("t" * 249, 0, UUID(int=6), CONFIG, NOW_MS).log_end_offset == 0
    assert sorted(p.name for p in tmp_path.glob("t*/*")) == [
        f"{0:020d}.index", f"{0:020d}.log", f"{0:020d}.timeindex", "partition.metadata",
    ]  # fmt: skip
    manager.shutdown()


def test_a_deletion_that_a_stop_interrupted_is_finished(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    manager.delete("t", 0, NOW_MS)
    manager.shutdown()
    manager = start(tmp_path)
    assert manager.all() == []
    manager.duties.tick_delete(NOW_MS)
    assert not list(tmp_path.glob("*-delete"))
    manager.shutdown()


def test_retention_comes_at_its_interval(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    log = manager.get("t", 0)
    assert log is not None
    manager.reconfigure("t", 0, LogConfig(segment_bytes=2000, retention_ms=1))
    log.high_watermark = 20
    manager.duties.tick_retention(NOW_MS + INITIAL_DELAY_MS - 1)
    assert log.log_start_offset == 0
    manager.duties.tick_retention(NOW_MS + INITIAL_DELAY_MS)
    assert log.log_start_offset == 20
    log.append([batch()], 0, NOW_MS)
    log.high_watermark = 21
    again_ms = NOW_MS + INITIAL_DELAY_MS + DEFAULT_TIMES.retention_interval_ms
    manager.duties.tick_retention(again_ms - 1)
    assert log.log_start_offset == 20
    manager.duties.tick_retention(again_ms)
    assert log.log_start_offset == 21
    manager.shutdown()


def test_checkpoints_come_at_their_interval(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    fill(manager, count=3)
    path = tmp_path / "recovery-point-offset-checkpoint"
    first_due_ms = NOW_MS  # soon, since the directory was not left cleanly

    def tick(now_ms: int) -> None:
        manager.duties.tick_checkpoints(now_ms)
        while jobs:
            job = jobs.pop()
            job.run()
            job.finish()

    tick(first_due_ms)
    assert path.read_text() == "0\n1\nt 0 0\n"
    log = manager.all()[0]
    log.flush()
    tick(first_due_ms + DEFAULT_TIMES.checkpoint_interval_ms - 1)
    assert path.read_text() == "0\n1\nt 0 0\n"
    tick(first_due_ms + DEFAULT_TIMES.checkpoint_interval_ms)
    assert path.read_text() == f"0\n1\nt 0 {log.log_end_offset}\n"
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == "0\n0\n"
    crash(manager)


def test_high_watermarks_are_kept_per_directory(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    for partition in range(4):
        manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
    marks = {("t", partition): partition * 10 for partition in range(4)}
    manager.write_offsets(checkpoints.HIGH_WATERMARK, marks)
    assert manager.dirs.read(checkpoints.HIGH_WATERMARK) == marks
    entries = (tmp_path / "a" / "replication-offset-checkpoint").read_text().splitlines()
    assert len(entries) == 4
    manager.shutdown()


def test_a_roll_makes_the_closed_segment_durable_outside_the_loop(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    fill(manager, count=10)
    log = manager.get("t", 0)
    assert log is not None
    assert log.recovery_point == 0
    for job in jobs:
        job.run()
        job.finish()
    assert log.recovery_point == log.segments()[-1].base_offset > 0
    crash(manager)


def test_a_flush_that_ends_after_a_truncation_vouches_for_nothing(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_messages=5), NOW_MS)
    log.append([batch(8)], 0, NOW_MS)
    jobs.clear()
    manager.duties.tick_flush(NOW_MS)
    (job,) = jobs
    job.run()
    log.truncate_to(2)
    log.append([batch(4)], 1, NOW_MS)
    job.finish()
    assert (log.recovery_point, log.log_end_offset) == (0, 4)
    log.flush()
    assert log.recovery_point == 4
    crash(manager)


def test_a_truncation_writes_down_at_once_that_less_is_durable(tmp_path: Path) -> None:
    manager = start(tmp_path)
    for topic in ("t", "u"):
        log = manager.create(topic, 0, TOPIC_ID, LogConfig(), NOW_MS)
        for _ in range(8):
            log.append([batch()], 0, NOW_MS)
        log.flush()
    manager.duties.write_checkpoints()
    path = tmp_path / checkpoints.RECOVERY_POINT
    log.truncate_to(3)
    assert checkpoints.read_offsets(path) == {("t", 0): 8, ("u", 0): 3}
    log.append([batch()], 1, NOW_MS)
    log.truncate_to(3)
    log.start_at(1)
    assert checkpoints.read_offsets(path) == {("t", 0): 8, ("u", 0): 1}
    crash(manager)


def test_logs_that_are_cut_one_after_another_share_what_is_written_down(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    logs = [manager.create("t", index, TOPIC_ID, LogConfig(), NOW_MS) for index in range(10)]
    for log in logs:
        log.append([batch(5)], 0, NOW_MS)
        log.append([batch(5)], 0, NOW_MS)
        log.flush()
    jobs.clear()
    for log in logs:
        log.truncate_to(5)
    written = 0
    while jobs:
        job = jobs.pop(0)
        written += isinstance(job, CheckpointJob)
        job.run()
        job.finish()
    found = checkpoints.read_offsets(tmp_path / checkpoints.RECOVERY_POINT)
    assert (written, found) == (2, {("t", index): 5 for index in range(10)})
    crash(manager)


def test_a_log_is_flushed_after_so_many_messages(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_messages=5), NOW_MS)
    log.append([batch(4)], 0, NOW_MS)
    manager.duties.tick_flush(NOW_MS)
    assert log.recovery_point == 0
    log.append([batch(1)], 0, NOW_MS)
    manager.duties.tick_flush(NOW_MS + FLUSH_LOOK_MS)
    assert log.recovery_point == 5
    crash(manager)


def test_a_log_is_flushed_after_so_long(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_ms=2500), NOW_MS)
    for at_ms, recovery_point in ((0, 0), (1400, 0), (2500, 3), (3600, 3), (5000, 5)):
        log.append([batch()], 0, NOW_MS)
        manager.duties.tick_flush(NOW_MS + at_ms)
        assert log.recovery_point == recovery_point
    crash(manager)


class Opened:
    """The files that are opened while it records, by whatever function of Python."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.is_recording = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if self.is_recording and event == "open" and isinstance(args[0], str):
            self.paths.append(Path(args[0]))


def test_after_a_clean_stop_one_small_file_of_each_partition_is_read_at_the_start(
    tmp_path: Path,
) -> None:
    manager = start(tmp_path)
    for partition in range(20):
        log = manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
        for _ in range(30):
            log.append([batch(size=200)], 1, NOW_MS)
        assert len(log.segments()) > 2
    manager.shutdown()
    opened = Opened()
    opened.is_recording = True
    manager = start(tmp_path)
    opened.is_recording = False
    of_partitions = [path for path in opened.paths if path.parent.parent == tmp_path]
    assert len(of_partitions) == 20
    assert {path.name for path in of_partitions} == {"partition.metadata"}
    assert {log.log_end_offset for log in manager.all()} == {30}
    opened.is_recording = True
    first = manager.get("t", 0)
    assert first is not None
    assert [record.offset for record in records(first)] == list(range(30))
    opened.is_recording = False
    assert {".log", ".index", ".timeindex"} <= {path.suffix for path in opened.paths}
    manager.shutdown()

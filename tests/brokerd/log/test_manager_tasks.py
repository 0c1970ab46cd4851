"""All logs of a broker: what is done to them by the clock, and when it is durable."""

from pathlib import Path

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file
from brokerd.log.io.disk_jobs import DiskJob
from brokerd.log.offset_checkpoint_file import CheckpointJob
from brokerd.log.scheduled_tasks import (
    DEFAULT_INTERVALS,
    FLUSH_LOOK_MS,
    INITIAL_DELAY_MS,
    TaskIntervals,
)
from tests.brokerd.log.managers import CONFIG, crash, fill, start
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, segments_of, write_offsets


def test_retention_comes_at_its_interval(tmp_path: Path) -> None:
    manager = start(tmp_path)
    fill(manager)
    log = manager.get("t", 0)
    assert log is not None
    manager.reconfigure("t", 0, LogConfig(segment_bytes=2000, retention_ms=1))
    log.high_watermark = 20
    manager.tasks.tick_retention(NOW_MS + INITIAL_DELAY_MS - 1)
    assert log.log_start_offset == 0
    manager.tasks.tick_retention(NOW_MS + INITIAL_DELAY_MS)
    assert log.log_start_offset == 20
    log.append([batch()], 0, NOW_MS)
    log.high_watermark = 21
    again_ms = NOW_MS + INITIAL_DELAY_MS + DEFAULT_INTERVALS.retention_interval_ms
    manager.tasks.tick_retention(again_ms - 1)
    assert log.log_start_offset == 20
    manager.tasks.tick_retention(again_ms)
    assert log.log_start_offset == 21
    manager.shutdown()


def test_checkpoints_come_at_their_interval(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    fill(manager, count=3)
    path = tmp_path / "recovery-point-offset-checkpoint"
    first_due_ms = NOW_MS  # soon, since the directory was not left cleanly

    def tick(now_ms: int) -> None:
        manager.tasks.tick_checkpoints(now_ms)
        while jobs:
            job = jobs.pop()
            job.run()
            job.finish()

    tick(first_due_ms)
    assert path.read_text() == "0\n1\nt 0 0\n"
    log = manager.all()[0]
    log.flush()
    tick(first_due_ms + DEFAULT_INTERVALS.checkpoint_interval_ms - 1)
    assert path.read_text() == "0\n1\nt 0 0\n"
    tick(first_due_ms + DEFAULT_INTERVALS.checkpoint_interval_ms)
    assert path.read_text() == f"0\n1\nt 0 {log.log_end_offset}\n"
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == "0\n0\n"
    crash(manager)


def test_log_starts_have_an_interval_of_their_own(tmp_path: Path) -> None:
    manager = start(tmp_path, times=TaskIntervals(log_start_interval_ms=500))
    fill(manager, count=3)
    manager.tasks.tick_checkpoints(NOW_MS)
    manager.all()[0].flush()
    manager.all()[0].delete_records_before(1)
    starts, points = (
        tmp_path / name for name in (checkpoint_file.LOG_START, checkpoint_file.RECOVERY_POINT)
    )
    manager.tasks.tick_checkpoints(NOW_MS + 499)
    assert starts.read_text() == "0\n0\n"
    manager.tasks.tick_checkpoints(NOW_MS + 500)
    assert starts.read_text() == "0\n1\nt 0 1\n"
    assert points.read_text() == "0\n1\nt 0 0\n"
    manager.tasks.tick_checkpoints(NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
    assert points.read_text() == "0\n1\nt 0 3\n"
    crash(manager)


def test_high_watermarks_are_kept_per_directory(tmp_path: Path) -> None:
    manager = start(tmp_path / "a", tmp_path / "b")
    for partition in range(4):
        manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
    marks = {("t", partition): partition * 10 for partition in range(4)}
    write_offsets(manager, checkpoint_file.HIGH_WATERMARK, marks)
    assert manager.dirs.read(checkpoint_file.HIGH_WATERMARK) == marks
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
    assert log.recovery_point == segments_of(log)[-1].base_offset > 0
    crash(manager)


def test_a_flush_that_ends_after_a_truncation_vouches_for_nothing(tmp_path: Path) -> None:
    jobs: list[DiskJob] = []
    manager = start(tmp_path, submit=jobs.append)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_messages=5), NOW_MS)
    log.append([batch(8)], 0, NOW_MS)
    jobs.clear()
    manager.tasks.tick_flush(NOW_MS)
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
    manager.tasks.write_checkpoints()
    path = tmp_path / checkpoint_file.RECOVERY_POINT
    log.truncate_to(3)
    assert checkpoint_file.read_offsets(path) == {("t", 0): 8, ("u", 0): 3}
    log.append([batch()], 1, NOW_MS)
    log.truncate_to(3)
    log.start_at(1)
    assert checkpoint_file.read_offsets(path) == {("t", 0): 8, ("u", 0): 1}
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
    found = checkpoint_file.read_offsets(tmp_path / checkpoint_file.RECOVERY_POINT)
    assert (written, found) == (2, {("t", index): 5 for index in range(10)})
    crash(manager)


def test_a_log_that_its_first_use_cuts_has_the_recovery_points_written_at_once(
    tmp_path: Path,
) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(), NOW_MS)
    for _ in range(8):
        log.append([batch()], 0, NOW_MS)
    manager.shutdown()
    (path,) = (tmp_path / "t-0").glob("*.log")
    path.write_bytes(path.read_bytes()[:-1])
    manager = start(tmp_path)
    torn = manager.get("t", 0)
    assert torn is not None
    torn.prepare_first_use()
    found = checkpoint_file.read_offsets(tmp_path / checkpoint_file.RECOVERY_POINT)
    assert found == {("t", 0): torn.recovery_point}
    assert torn.recovery_point < 8
    crash(manager)


def test_a_log_is_flushed_after_so_many_messages(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_messages=5), NOW_MS)
    log.append([batch(4)], 0, NOW_MS)
    manager.tasks.tick_flush(NOW_MS)
    assert log.recovery_point == 0
    log.append([batch(1)], 0, NOW_MS)
    manager.tasks.tick_flush(NOW_MS + FLUSH_LOOK_MS)
    assert log.recovery_point == 5
    crash(manager)


def test_a_log_is_flushed_after_so_long(tmp_path: Path) -> None:
    manager = start(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, LogConfig(flush_ms=2500), NOW_MS)
    for at_ms, recovery_point in ((0, 0), (1400, 0), (2500, 3), (3600, 3), (5000, 5)):
        log.append([batch()], 0, NOW_MS)
        manager.tasks.tick_flush(NOW_MS + at_ms)
        assert log.recovery_point == recovery_point
    crash(manager)

"""The broker's side: which log, when, and what happens when the log changed under a worker."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file
from brokerd.log.cleaner.cleaning_round import clean
from brokerd.log.cleaner.log_cleaner_manager import (
    Listener,
    LogCleanerManager,
)
from brokerd.log.cleaner.worker_messages import Job, SegmentGroupDone
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.segments.log_segment import LogSegment
from tests.brokerd.log.cleaner.support import (
    COMMIT,
    COMPACTED,
    SEED,
    SMALL,
    CompactedLog,
    keyed,
)
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, records, write_offsets


class Later:
    """Workers that do a job when the test says so."""

    def __init__(self) -> None:
        self.free = 1
        self.waiting: list[tuple[Job, Listener]] = []
        self.rests = 0

    def run(self, job: Job, listener: Listener) -> None:
        self.free -= 1
        self.waiting.append((job, listener))

    def do(self) -> None:
        job, listener = self.waiting.pop()
        self.free += 1
        listener.round_done(clean(job, listener.group_done, seed=SEED))

    def rest(self) -> None:
        self.rests += 1


def dirty(
    directory: Path, config: LogConfig = COMPACTED
) -> tuple[CompactedLog, Later, LogCleanerManager]:
    log = CompactedLog(directory, config)
    for number in range(100):
        log.append(keyed([(b"%d" % (number % 9), b"x" * 90)]))
    log.roll()
    workers = Later()
    cleaner = LogCleanerManager(log.manager, workers, lambda: log.now_ms, 1000, SMALL)
    return log, workers, cleaner


def test_a_cleaned_log_is_in_the_checkpoint_and_not_cleaned_again(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    log.append(keyed([(b"k", b"1")]), keyed([(b"k", b"2")]))
    log.roll()
    log.clean()
    assert log.content() == [(1, b"k", b"2")]
    assert log.checkpoint() == "0\n1\nt 0 2\n"
    log.clean()
    assert len(log.workers.jobs) == 1
    assert log.workers.rests
    again = LogCleanerManager(log.manager, log.workers, lambda: log.now_ms, 0, SMALL)
    again.tick(NOW_MS)
    assert len(log.workers.jobs) == 1


def test_a_log_is_made_durable_before_it_is_cleaned(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    log.log.local.recovery_point = 10
    cleaner.tick(NOW_MS)
    assert workers.waiting == []
    assert log.log.recovery_point == 100
    cleaner.tick(NOW_MS)
    assert len(workers.waiting) == 1


def test_nothing_is_cleaned_past_the_high_watermark_or_an_open_transaction(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    log.log.high_watermark = 50
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].segments[-1][1] <= 50

    log, workers, cleaner = dirty(tmp_path / "other")
    opened_at = log.transactional(7, (b"k", b"v"))
    for _ in range(60):
        log.append(keyed([(b"k", b"x" * 90)]))
    log.roll()
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].segments[-1][1] <= opened_at
    workers.do()
    ended_at = log.end(7, COMMIT)
    log.roll()
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].segments[-1][1] == ended_at + 1


def test_a_log_that_an_open_transaction_keeps_from_being_cleaned_is_told(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    workers.do()
    assert cleaner.held == {}
    opened_at = log.transactional(7, (b"k", b"v"))
    for _ in range(60):
        log.append(keyed([(b"k", b"x" * 90)]))
    cleaner.tick(NOW_MS)
    cleaner.tick(NOW_MS + 2000)
    assert (cleaner.held, workers.waiting) == ({("t", 0): opened_at}, [])
    log.end(7, COMMIT)
    log.roll()
    cleaner.tick(NOW_MS + 4000)
    assert (cleaner.held, len(workers.waiting)) == ({}, 1)
    workers.do()


def test_a_look_at_many_logs_is_cut_into_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brokerd.log.cleaner.log_cleaner_manager.LOOK_SLICE", 2)
    log, workers, cleaner = dirty(tmp_path)
    for number in range(4):
        log.manager.create(f"u{number}", 0, TOPIC_ID, COMPACTED, NOW_MS)
    ticks = 1
    while cleaner.tick(NOW_MS):
        assert workers.waiting == []
        ticks += 1
    assert (ticks, len(workers.waiting)) == (3, 1)
    workers.do()
    log.manager.delete("u2", 0, NOW_MS)
    again = 1
    while cleaner.tick(NOW_MS):
        again += 1
    assert again > ticks
    assert ("u2", 0) not in cleaner._known


def test_what_the_cleaner_did_is_measured(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    assert (cleaner.metrics.looked_ms, cleaner.metrics.dirtiest) == (NOW_MS, 1.0)
    log.now_ms += 700
    workers.do()
    metrics = cleaner.metrics
    assert (metrics.rounds, metrics.round_ms) == (1, 700)
    assert 0 < metrics.round_kept < 1
    assert 0 < metrics.round_map_used < 0.1
    cleaner.tick(NOW_MS + 2000)
    assert cleaner.metrics.dirtiest < 1.0


def test_what_is_dirty_of_a_log_is_told_also_if_it_was_never_looked_at(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    before = cleaner.dirty_part_of(log.log, log.log.high_watermark)
    assert (before.clean_bytes, before.dirty_bytes) == (0, log.log.size_bytes)
    cleaner.tick(NOW_MS)
    workers.do()
    after = cleaner.dirty_part_of(log.log, log.log.high_watermark)
    assert after.dirty_bytes == 0
    assert 0 < after.clean_bytes < before.dirty_bytes


def test_what_is_dirty_of_uncleanable_logs_is_counted(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    for round_ms in (0, 2000):
        cleaner.tick(NOW_MS + round_ms)
        workers.waiting.pop()[1].worker_died()
        workers.free += 1
    assert list(cleaner.uncleanable) == [("t", 0)]
    assert cleaner.dirty_part_of(log.log, log.log.high_watermark) is None
    assert cleaner.metrics.worker_deaths == 2
    assert 0 < cleaner.uncleanable_bytes < log.log.size_bytes + 1


def test_a_log_that_cannot_be_read_is_uncleanable_and_those_behind_it_are_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, workers, cleaner = dirty(tmp_path, replace(COMPACTED, max_compaction_lag_ms=1 << 40))
    other = log.manager.create("u", 0, TOPIC_ID, COMPACTED, NOW_MS)
    for _ in range(50):
        other.append([keyed([(b"k", b"x" * 90)])], 0, NOW_MS)
    other.roll(NOW_MS)
    other.high_watermark = other.log_end_offset
    first_batch_timestamp = LogSegment.first_batch_timestamp

    def refuse(segment: LogSegment) -> int:
        if segment.directory == log.log.directory:
            raise OSError(errno.EIO, "Input/output error", segment.directory)
        return first_batch_timestamp(segment)

    monkeypatch.setattr(LogSegment, "first_batch_timestamp", refuse)
    cleaner.tick(NOW_MS)
    assert [job.directory for job, _ in workers.waiting] == [other.directory]
    assert "Input/output error" in cleaner.uncleanable["t", 0]
    assert cleaner.uncleanable_bytes == log.log.size_bytes


def test_a_checkpoint_ends_with_its_topic(tmp_path: Path) -> None:
    log, workers, _ = dirty(tmp_path)
    write_offsets(log.manager, checkpoint_file.CLEANER, {("t", 0): 90})
    cleaner = LogCleanerManager(log.manager, workers, lambda: log.now_ms, 0, SMALL)
    log.manager.delete("t", 0, NOW_MS)
    log.log = log.manager.create("t", 0, uuid4(), COMPACTED, NOW_MS)
    for _ in range(100):
        log.append(keyed([(b"k", b"x" * 90)]))
    log.roll()
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].dirty_start == 0


def test_what_is_known_of_a_deleted_log_is_not_written_down_as_of_one_made_anew(
    tmp_path: Path,
) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    workers.do()
    assert log.checkpoint().startswith("0\n1\nt 0 ")
    log.manager.delete("t", 0, NOW_MS)
    log.manager.create("t", 0, uuid4(), COMPACTED, NOW_MS)
    cleaner.checkpoint()  # as when another log is done
    assert log.checkpoint() == "0\n0\n"


def test_the_log_with_the_largest_dirty_share_comes_first(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    other = log.manager.create("u", 0, TOPIC_ID, COMPACTED, NOW_MS)

    def write_to_other(count: int) -> None:
        for _ in range(count):
            other.append([keyed([(b"k", b"x" * 90)])], 0, NOW_MS)
        other.roll(NOW_MS)
        other.high_watermark = other.log_end_offset

    write_to_other(100)
    for _ in range(2):
        cleaner.tick(NOW_MS)
        workers.do()
    assert cleaner.metrics.rounds == 2
    for _ in range(60):
        log.append(keyed([(b"k", b"x" * 90)]))
    log.roll()
    write_to_other(30)
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].directory == other.directory


def test_between_looks_that_find_nothing_lies_the_backoff(tmp_path: Path) -> None:
    _, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    workers.do()
    cleaner.tick(NOW_MS)
    assert workers.rests == 1
    cleaner.tick(NOW_MS + 999)
    assert workers.rests == 1
    cleaner.tick(NOW_MS + 1000)
    assert workers.rests == 2


def test_a_log_that_is_not_compacted_is_left_alone(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path, replace(COMPACTED, cleanup_policy=("delete",)))
    cleaner.tick(NOW_MS)
    assert workers.waiting == []
    log.manager.reconfigure("t", 0, COMPACTED)
    cleaner.tick(NOW_MS + 1000)
    assert len(workers.waiting) == 1


def cut(log: CompactedLog) -> None:
    log.log.truncate_to(60)


def lose(log: CompactedLog) -> None:
    log.log.delete_records_before(40)
    delete_old_segments(log.log, NOW_MS, log.log.high_watermark)


def remove(log: CompactedLog) -> None:
    log.manager.delete("t", 0, NOW_MS)


@pytest.mark.parametrize("change", [cut, lose, remove])
def test_what_a_worker_made_of_a_log_that_changed_is_thrown_away(
    tmp_path: Path, change: object
) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    change(log)  # type: ignore[operator]
    left = [] if change is remove else log.content()
    workers.do()
    assert cleaner.metrics.rounds == 0
    assert cleaner.uncleanable == {}
    assert not list(tmp_path.glob("t-0/*.cleaned"))
    if change is not remove:
        assert log.content() == left
        assert left
        cleaner.tick(NOW_MS)
        assert len(workers.waiting) == 1


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: os.truncate(path, 61)])
def test_files_that_are_not_whole_take_no_segments_place(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    before = log.content()
    job, round_ = workers.waiting.pop()

    def report(group: SegmentGroupDone) -> bool:
        damage(next(Path(job.directory).glob("*.log.*cleaned")))
        return round_.group_done(group)

    round_.round_done(clean(job, report, seed=SEED))
    assert log.content() == before
    assert "should have" in cleaner.uncleanable["t", 0]
    assert log.manager.dirs.offline == {}


def test_a_job_that_nobody_wants_removes_no_other_jobs_files(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    cleaner.tick(NOW_MS)
    (job, _) = workers.waiting[0]
    late = replace(job, name="late")

    def end_late_one(group: SegmentGroupDone) -> bool:
        clean(late, lambda _: False, seed=SEED)
        return workers.waiting[0][1].group_done(group)

    done = clean(job, end_late_one, seed=SEED)
    workers.waiting.pop()[1].round_done(done)
    assert (cleaner.metrics.rounds, cleaner.uncleanable) == (1, {})
    assert len(log.content()) == 9


def test_a_range_being_sent_is_read_to_its_end_over_a_swap(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    pinned = log.log.read(0, 1 << 20, up_to=100, min_one_batch=True)
    assert pinned is not None
    before = pinned.read()
    cleaner.tick(NOW_MS)
    workers.do()
    log.manager.tasks.tick_delete(NOW_MS + 1)
    assert not list(tmp_path.glob("t-0/*.deleted"))
    assert pinned.read() == before
    pinned.release()
    assert len(records(log.log)) == 9


def test_a_log_over_which_workers_die_is_uncleanable_until_it_is_cut(tmp_path: Path) -> None:
    log, workers, cleaner = dirty(tmp_path)
    for _ in range(2):
        cleaner.tick(NOW_MS)
        assert cleaner.uncleanable == {}
        workers.waiting.pop()[1].worker_died()
        workers.free += 1
    assert cleaner.uncleanable == {("t", 0): "the worker process died 2 times over it"}
    cleaner.tick(NOW_MS + 10_000)
    assert workers.waiting == []
    log.log.truncate_to(60)
    cleaner.tick(NOW_MS + 20_000)
    assert len(workers.waiting) == 1
    assert cleaner.uncleanable == {}


def test_a_checkpoint_past_the_end_of_a_log_that_recovery_cut_is_void(tmp_path: Path) -> None:
    log, workers, _ = dirty(tmp_path)
    write_offsets(log.manager, checkpoint_file.CLEANER, {("t", 0): 101})
    cleaner = LogCleanerManager(log.manager, workers, lambda: log.now_ms, 1000, SMALL)
    cleaner.tick(NOW_MS)
    assert workers.waiting[0][0].dirty_start == 0


def test_the_checkpoint_forgets_logs_that_are_gone_or_were_cut(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    log.append(keyed([(b"k", b"1")]), keyed([(b"k", b"2")]))
    log.roll()
    log.clean()
    assert log.checkpoint() == "0\n1\nt 0 2\n"
    log.log.truncate_to(1)
    log.cleaner.tick(NOW_MS)
    assert log.checkpoint() == "0\n0\n"

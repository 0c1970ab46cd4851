"""The worker as a process of its own, spoken to over its pipes; how fast it may be."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from brokerd.log.cleaner.cleanable_offsets import closed_segments, end_of
from brokerd.log.cleaner.cleaning_round import Throttle
from brokerd.log.cleaner.worker_messages import (
    Job,
    RoundDone,
    SegmentGroupDone,
    decode_message,
    encode_answer,
)
from tests.brokerd.log.cleaner.support import SMALL, CompactedLog, keyed
from tests.brokerd.log.support import NOW_MS

ROOT = str(Path(__file__).parents[4])


@pytest.fixture
def worker() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "brokerd.log.cleaner.worker"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, cwd=ROOT,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def job_for(log: CompactedLog) -> Job:
    closed = closed_segments(log.log)
    return Job(
        directory=log.log.directory,
        segments=[(each.base_offset, end_of(log.log, each), each.size_bytes)
                  for each in closed],
        dirty_start=0, now_ms=NOW_MS, delete_retention_ms=1, segment_bytes=3000,
        segment_index_bytes=1 << 20, index_interval_bytes=300, limits=SMALL,
    )  # fmt: skip


def filled(directory: Path) -> CompactedLog:
    log = CompactedLog(directory)
    for number in range(100):
        log.append(keyed([(b"%d" % (number % 9), b"x" * 90)]))
    log.roll()
    return log


def converse(worker: "subprocess.Popen[bytes]", job: Job, answer: bool) -> list[object]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    said: list[object] = []
    worker.stdin.write(job.encode())
    worker.stdin.flush()
    while True:
        message = decode_message(worker.stdout.readline())
        said.append(message)
        if not isinstance(message, SegmentGroupDone):
            return said
        worker.stdin.write(encode_answer(answer))
        worker.stdin.flush()


def test_a_job_that_cannot_be_done_ends_no_worker(
    tmp_path: Path, worker: "subprocess.Popen[bytes]"
) -> None:
    job = job_for(filled(tmp_path))
    (done,) = converse(worker, replace(job, limits=replace(SMALL, map_bytes=10)), True)
    assert isinstance(done, RoundDone)
    assert (done.end_offset, bool(done.failed)) == (-1, True)
    Path(job.directory, f"{0:020d}.txnindex").write_bytes(b"half an entry")
    (done,) = converse(worker, job, True)
    assert isinstance(done, RoundDone)
    assert (done.end_offset, bool(done.failed)) == (-1, True)


def test_it_does_one_job_after_the_other_and_ends_when_there_are_no_more(
    tmp_path: Path, worker: "subprocess.Popen[bytes]"
) -> None:
    log = filled(tmp_path)
    job = job_for(log)
    *groups, done = converse(worker, job, True)
    assert isinstance(done, RoundDone)
    assert (done.end_offset, done.records_before, done.records_after) == (100, 100, 9)
    assert len(groups) == len(job.segments)
    assert len(list(Path(log.log.directory).glob("*.log.*.cleaned"))) == len(groups)
    *groups, done = converse(worker, replace(job, name="other"), False)
    assert len(groups) == 1
    assert isinstance(done, RoundDone)
    assert (done.end_offset, done.failed) == (-1, "")
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.wait(10) == 0


def test_a_file_that_is_gone_is_told(tmp_path: Path, worker: "subprocess.Popen[bytes]") -> None:
    log = filled(tmp_path)
    job = job_for(log)
    os.unlink(closed_segments(log.log)[0].file.path)
    (done,) = converse(worker, job, True)
    assert isinstance(done, RoundDone)
    assert "No such file" in done.failed


def test_a_throttle_sleeps_off_what_was_done_too_early() -> None:
    now_s = 100.0
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now_s
        slept.append(seconds)
        now_s += seconds

    throttle = Throttle(1000, lambda: now_s, sleep)
    throttle.took(10)
    assert slept == []
    for _ in range(100):
        throttle.took(100)
    assert now_s == pytest.approx(100 + 10.01)
    now_s += 50
    throttle.took(49)
    assert now_s == pytest.approx(160.01)

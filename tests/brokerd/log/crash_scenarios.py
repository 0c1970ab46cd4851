"""A process that does what a log does in its life, and dies at every point of it in turn.

    python -m tests.brokerd.log.crash_scenarios SCENARIO DIRECTORY

A point is a line of the log's code that is about to change a kind of file. First a fork does the
whole scenario and notes the points that it reaches. Then for the first and the last time that each
is reached, a fork does it again in a directory of its own and dies there. What is printed is JSON:
the point of each directory. In each directory, `told` has what was told to the client before.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file, file_names
from brokerd.log.log_manager import LogManager
from brokerd.log.scheduled_tasks import DEFAULT_INTERVALS
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    encode_batch,
    iter_batches,
)
from tests.brokerd.log.cleaner.support import ABORT, CompactedLog, keyed
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager, write_offsets

CONFIG = LogConfig(segment_bytes=1500, index_interval_bytes=200, file_delete_delay_ms=0)
PRODUCER = 7

SYNCS = ("fdatasync", "fsync")
CHANGES = (
    *SYNCS, "ftruncate", "mkdir", "open", "pwrite", "pwritev", "rename", "replace", "truncate",
    "unlink", "utime", "writev",
)  # fmt: skip
"""What the log calls of `os` to change files."""
observers: list[Callable[[str], None]] = []

Tell = Callable[..., None]
Scenario = Callable[[Path, Tell], None]


class Life:
    """A partition with an idempotent producer, and what it tells."""

    def __init__(self, manager: LogManager, partition: int, tell: Tell) -> None:
        self.log = manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
        self._partition, self._tell = partition, tell

    def append(self, times: int, epoch: int) -> None:
        """Batches of two records; each is told with its first offset and timestamp."""
        for _ in range(times):
            at = self.log.log_end_offset
            view = batch(2, size=60, timestamp_ms=NOW_MS + at, producer=(PRODUCER, 0, at))
            (result,) = self.log.append([view], epoch, NOW_MS)
            assert (result.error, result.base_offset) == (None, at)
            self.log.high_watermark = self.log.log_end_offset
            self._tell("written", self._partition, at)

    def cut(self, offset: int) -> None:
        self._tell("cutting", self._partition, offset)
        self.log.truncate_to(offset)

    def delete_before(self, manager: LogManager, offset: int) -> None:
        self._tell("deleting", self._partition, offset)
        self.log.delete_records_before(offset)
        directory = manager.directory_of("t", self._partition)
        assert directory is not None
        manager.tasks.save_log_starts(directory, lambda error: None)
        self._tell("deleted", self._partition, offset)


def replicate(log: UnifiedLog, records: list[Record], producer: int, flags: int) -> int:
    offset = log.log_end_offset
    sequence = -1 if flags & CONTROL else 0
    view = encode_batch(
        records, base_offset=offset, leader_epoch=0, producer_id=producer, producer_epoch=0,
        base_sequence=sequence, attributes=flags,
    )  # fmt: skip
    log.append_replicated(list(iter_batches(memoryview(view))), NOW_MS)
    log.high_watermark = log.log_end_offset
    return offset


def transactions(log: UnifiedLog, tell: Tell) -> None:
    """An aborted one, and a roll behind it."""
    data = [Record(0, NOW_MS + log.log_end_offset, b"k", bytes(60))]
    tell("written", 1, replicate(log, data, 9, TRANSACTIONAL))
    marker = [Record(0, NOW_MS + log.log_end_offset, ABORT, bytes(6))]
    tell("written", 1, replicate(log, marker, 9, TRANSACTIONAL | CONTROL))
    log.roll(NOW_MS)
    tell("aborted", 1, 0)


def life(directory: Path, tell: Tell) -> None:
    """Append, roll, sync, checkpoint, delete records, retain, cut, delete, stop, start again."""
    manager = open_manager([str(directory)], 1, now_ms=NOW_MS)
    manager.join("cluster")
    first = Life(manager, 0, tell)
    first.append(8, 0)
    transactions(manager.create("t", 1, TOPIC_ID, CONFIG, NOW_MS), tell)
    first.append(8, 1)
    manager.tasks.tick_checkpoints(NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
    write_offsets(manager, checkpoint_file.HIGH_WATERMARK, {("t", 0): 32, ("t", 1): 2})
    first.delete_before(manager, 9)
    manager.tasks.tick_retention(NOW_MS + DEFAULT_INTERVALS.retention_interval_ms)
    manager.tasks.tick_delete(NOW_MS + DEFAULT_INTERVALS.retention_interval_ms)
    first.cut(27)
    first.append(2, 2)
    first.cut(22)
    first.append(6, 3)
    second = Life(manager, 2, tell)
    second.append(2, 0)
    second.delete_before(manager, 2)
    tell("removing", 2, 0)
    manager.delete("t", 2, NOW_MS)
    tell("making", 2, 0)
    Life(manager, 2, tell).append(3, 0)
    tell("removing", 2, 0)
    manager.delete("t", 2, NOW_MS)
    manager.tasks.tick_delete(NOW_MS + DEFAULT_INTERVALS.retention_interval_ms)
    manager.shutdown()
    manager = open_manager([str(directory)], 1, now_ms=NOW_MS)
    first = Life(manager, 0, tell)
    first.append(2, 4)
    first.log.roll(NOW_MS)


def recovery(directory: Path, tell: Tell) -> None:
    """Start on what a crash left: a torn tail, files of half-done work, missing indexes."""
    if not (directory / "torn").exists():
        life(directory, tell)
        with max((directory / "t-0").glob("*.log")).open("ab") as file:
            file.write(bytes(batch(2, size=100))[:-7])
        for path in (directory / "t-0").glob("*.index"):
            path.unlink()
        (directory / "t-0" / f"{1:020d}.timeindex").touch()
        oldest = min((directory / "t-0").glob("*.log"))
        shutil.copy(oldest, f"{oldest}{file_names.SWAP}")
        (directory / "t-1" / f"{99:020d}.log{file_names.CLEANED}").touch()
        (directory / "t-1" / f"{98:020d}.log{file_names.DELETED}").touch()
        (directory / "torn").touch()
        return
    manager = open_manager([str(directory)], 1, now_ms=NOW_MS)
    Life(manager, 0, tell).append(1, 5)


def compaction(directory: Path, tell: Tell) -> None:
    """Clean a compacted log with every codec, tombstones and idempotent producers."""
    log = CompactedLog(directory)
    for number in range(400):
        key = b"only-%d" % number if number % 7 == 0 else b"%d" % (number * number % 60)
        value = None if number % 11 == 0 else b"v%d" % number
        log.append(keyed([(key, value)], codec=number % 5, producer=(number % 3, 0, number // 3)))
        tell("put", number, key.decode(), value and value.decode())
    log.clean()
    log.manager.shutdown()


SCENARIOS: dict[str, Scenario] = {"life": life, "recovery": recovery, "compaction": compaction}
PREPARED = ("recovery",)


def forked(work: Callable[[], None]) -> int:
    """The wait status of a fork that did it."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def watched(name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    caller = sys._getframe(1)
    module = caller.f_globals["__name__"]
    if module.startswith("brokerd.log"):
        kind = "" if isinstance(args[0], int) else os.path.basename(args[0]).lstrip("0123456789")
        for observer in observers:
            observer(f"{name} {kind} in {module}:{caller.f_lineno}")
    if name not in SYNCS:  # a killed process loses nothing that was not synced
        return call(*args, **kwargs)
    return None


def run(scenario: Scenario, directory: Path, observer: Callable[[str], None]) -> int:
    """Do a scenario in a fork whose points are observed."""
    fd = os.open(directory / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(*words: object) -> None:
        os.write(fd, json.dumps(words).encode() + b"\n")

    def work() -> None:
        observers.append(observer)
        scenario(directory, tell)

    status = forked(work)
    os.close(fd)
    return status


def traced(scenario: Scenario, directory: Path) -> list[str]:
    """The points that a scenario reaches."""
    names_file = directory.with_suffix(".trace")

    def note(name: str) -> None:
        with names_file.open("a") as file:
            file.write(name + "\n")

    names_file.touch()
    assert run(scenario, directory, note) == 0
    return names_file.read_text().splitlines()


def dying(at: int) -> Callable[[str], None]:
    """An observer that ends the process at the point number `at` that it is told of."""
    left = at

    def observer(name: str) -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    return observer


def chosen(points: list[str]) -> list[int]:
    """The first and the last time that each point is reached."""
    last = {name: number for number, name in enumerate(points)}
    first = {name: number for number, name in reversed(list(enumerate(points)))}
    return sorted({*first.values(), *last.values()})


def main(name: str, base: Path) -> dict[str, str]:
    scenario = SCENARIOS[name]
    template = base / "template"
    template.mkdir(parents=True)
    if name in PREPARED:
        assert run(scenario, template, lambda point: None) == 0

    def fresh(directory: str) -> Path:
        shutil.copytree(template, base / directory)
        return base / directory

    points = traced(scenario, fresh("trace"))
    died = {}
    for number in chosen(points):
        directory = fresh(f"{number:04d}")
        status = run(scenario, directory, dying(number))
        assert os.WIFSIGNALED(status), f"{points[number]} was not reached again"
        died[directory.name] = points[number]
    return died


if __name__ == "__main__":
    for function in CHANGES:
        setattr(os, function, partial(watched, function, getattr(os, function)))
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))

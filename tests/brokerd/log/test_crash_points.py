"""kill -9 before every write, rename and sync of a log: nothing that a client was told is undone by
it, and the log goes on. Apache Kafka's dump tool reads what is then there."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.cleaner.support import CompactedLog, last_values
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager, records
from tests.support.kafka import dump_of_files

ROOT = Path(__file__).parents[3]
CONFIG = LogConfig(segment_bytes=1500, index_interval_bytes=200, file_delete_delay_ms=0)
PRODUCER = 7
MODULES = (
    "checkpoint_file", "cleaner.cleaned_segment_writer", "cleaner.replace_segments",
    "dirs.log_dir", "indexes.offset_index", "indexes.transaction_index", "io.files", "io.flush",
    "loading.log_loader", "loading.recover_log", "log_manager", "producer_snapshot",
    "segments.log_segments", "segments.log_segment",
)  # fmt: skip
"""Of the log, those that change files."""
DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


@dataclass(slots=True)
class Told:
    """What a partition's client knew when the process died: records by offset, where it was being
    cut or deleted to, whether it was on its way out."""

    written: dict[int, int] = field(default_factory=dict)
    start: int = 0
    start_max: int = 0
    is_removed: bool = False

    def take(self, what: str, offset: int) -> None:
        if what == "written":
            self.written[offset] = NOW_MS + offset
            self.is_removed = False
        elif what == "cutting":
            self.written = {at: ms for at, ms in self.written.items() if at + 1 < offset}
        elif what == "deleting":
            self.start_max = offset
        elif what == "deleted":
            self.start = offset
        elif what == "removing":
            self.is_removed = True
        elif what == "making":
            self.written, self.start, self.start_max = {}, 0, 0


def told_in(directory: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (directory / "told").read_text().splitlines()]


def crashes(scenario: str, base: Path) -> dict[str, str]:
    """The point at which the process died in each directory."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.brokerd.log.crash_scenarios", scenario, str(base)],
        cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=120,
    )  # fmt: skip
    died: dict[str, str] = json.loads(done.stdout)
    return died


def assert_goes_on(log: UnifiedLog, told: Told) -> None:
    """All that was told is there, nothing is there twice, and the producer is known."""
    assert told.start <= log.log_start_offset <= told.start_max
    found = {record.offset: record.timestamp_ms for record in records(log, log.log_start_offset)}
    assert list(found) == list(range(log.log_start_offset, log.log_end_offset))
    kept = {at: ms for at, ms in told.written.items() if at >= log.log_start_offset}
    assert {at: found.get(at) for at in kept} == kept
    if log.partition != 1 and log.log_end_offset > log.log_start_offset:
        end = log.log_end_offset
        (again,) = log.append([batch(2, producer=(PRODUCER, 0, end - 2))], 8, NOW_MS)
        assert (again.duplicate, again.base_offset) == (True, end - 2)
        (more,) = log.append([batch(2, producer=(PRODUCER, 0, end))], 8, NOW_MS)
        assert (more.error, more.base_offset) == (None, end)


def assert_aborted(log: UnifiedLog) -> None:
    found = log.read(0, 1 << 20, up_to=log.log_end_offset, min_one_batch=True)
    assert found is not None
    assert log.aborted_transactions(0, found) == [(9, 0)]
    found.release()


def check_life(directory: Path) -> None:
    told: dict[int, Told] = defaultdict(Told)
    lines = told_in(directory)
    for what, partition, offset in lines:
        told[partition].take(what, offset)
    manager = open_manager([str(directory)], 1, now_ms=NOW_MS)
    assert manager.dirs.offline == {}
    for partition, known in told.items():
        log = manager.get("t", partition)
        if known.is_removed and log is None:
            continue
        log = manager.create("t", partition, TOPIC_ID, CONFIG, NOW_MS)
        assert_goes_on(log, known)
    if ["aborted", 1, 0] in lines:
        assert_aborted(manager.create("t", 1, TOPIC_ID, CONFIG, NOW_MS))
    manager.shutdown()
    left = {path.suffix for path in directory.glob("t-?/*")}
    assert left <= {".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".metadata", ""}


def check_compaction(directory: Path) -> None:
    put = [
        (offset, key.encode(), value and value.encode())
        for _, offset, key, value in told_in(directory)
    ]
    log = CompactedLog(directory)
    after = log.content()
    assert log.log.log_end_offset - len(put) in (0, 1), "the last one may not have been told"
    assert last_values(put) == last_values(each for each in after if each[0] < len(put))
    if len(put) == 400:
        log.clean()
        assert last_values(log.content()) == last_values(put)
        assert len(log.content()) < 400
    log.manager.shutdown()
    assert not list(directory.glob("t-0/*.swap")) + list(directory.glob("t-0/*.cleaned"))


CHECKS = {"life": check_life, "recovery": check_life, "compaction": check_compaction}


@pytest.mark.kafka
def test_a_kill_at_any_point_loses_nothing_that_was_told(tmp_path: Path) -> None:
    to_dump: list[Path] = []
    reached: set[str] = set()
    for scenario, check in CHECKS.items():
        for name, point in crashes(scenario, tmp_path / scenario).items():
            directory = tmp_path / scenario / name
            try:
                check(directory)
            except Exception as error:
                raise AssertionError(f"after a kill at {point} of {scenario}: {error}") from error
            if point not in reached:
                reached.add(point)
                to_dump += (path for path in directory.glob("t-?/*") if path.suffix in DUMPED)
    places = {point.partition("brokerd.log.")[2].partition(":")[0] for point in reached}
    assert set(MODULES) <= places, "these modules are in no scenario"
    text = dump_of_files(to_dump)
    for complaint in ("Mismatch", "mismatch", "invalid bytes", "isvalid: false", "Exception",
                      "not found", "ERROR"):  # fmt: skip
        assert complaint not in text, text
    assert len(re.findall("(?m)^Dumping ", text)) == len(to_dump)

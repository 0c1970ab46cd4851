"""The first use of a damaged log: what can be computed from the batches is as it was."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.cleaner.cleanable_offsets import aborted_across
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, open_log, records, segments_of
from tests.brokerd.log.test_transactions import ABORT, data, end

CONFIG = LogConfig(segment_bytes=500_000, index_interval_bytes=1000)
BATCHES = 2400
HERE_MAX_BYTES = 150_000
"""So much of the data a first use may read itself, of some 900,000 bytes."""


def filled(directory: Path) -> int:
    """A log of two segments, two producers, with an aborted transaction at its
    end; it was closed cleanly. Where it ends."""
    log = open_log(directory, CONFIG)
    for number in range(BATCHES):
        producer = (7 + number % 2, 0, number // 2)
        log.append([batch(size=300, timestamp_ms=NOW_MS + number, producer=producer)],
                   0, NOW_MS)  # fmt: skip
    data(log, 9)
    end(log, 9, ABORT)
    log.append([batch(timestamp_ms=NOW_MS + BATCHES)], 0, NOW_MS)
    log.close()
    assert len(log.local.segments) == 2
    return log.log_end_offset


def last(directory: Path, suffix: str) -> Path:
    return max(directory.glob(f"*{suffix}"))


def torn(directory: Path) -> None:
    path = last(directory, ".log")
    os.truncate(path, path.stat().st_size - 1)


def without_indexes(directory: Path) -> None:
    for path in directory.glob("*index"):
        path.unlink()


def with_short_index(directory: Path) -> None:
    last(directory, ".index").write_bytes(b"xyz")


def without_epochs(directory: Path) -> None:
    (directory / "leader-epoch-checkpoint").write_text("no checkpoint")


def without_snapshots(directory: Path) -> None:
    for path in directory.glob("*.snapshot"):
        path.write_bytes(b"no snapshot")


def in_every_way(directory: Path) -> None:
    for damage in (torn, without_indexes, without_epochs, without_snapshots):
        damage(directory)


def told(log: UnifiedLog) -> dict[str, object]:
    """All that a log says, and its files."""
    said: dict[str, object] = {
        "end": log.log_end_offset,
        "epochs": log.epochs.entries,
        "producers": {  # of some a snapshot knows the last batch alone
            id_: entry._replace(batches=entry.batches[-1:])
            for id_, entry in log.producers.entries.items()
        },
        "time": fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 1500),
        "latest": fetch_offset_by_timestamp.largest(log),
        "stable": log.last_stable_offset(log.log_end_offset),
        "aborted": [aborted_across(log, each.base_offset) for each in segments_of(log)],
        "offsets": [each.offset for each in records(log)],
    }  # fmt: skip
    (again,) = log.append([batch(producer=(7, 0, BATCHES // 2))], 3, NOW_MS)
    log.close()
    return said | {"appended": again}


@pytest.mark.parametrize(
    "damage",
    [torn, without_indexes, with_short_index, without_epochs, without_snapshots, in_every_way],
)
def test_a_damaged_log_is_at_its_first_use_what_it_was(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    log_end = filled(tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    damage(tmp_path / "damaged")
    whole = open_log(tmp_path / "whole", CONFIG, recovery_point=log_end)
    if damage in (torn, in_every_way):
        whole.truncate_to(log_end - 1)
    log = open_log(tmp_path / "damaged", CONFIG, recovery_point=log_end)
    log.prepare_first_use()
    assert told(log) == told(whole)


def test_bytes_behind_the_last_batch_cost_no_producer_whose_batches_lie_before_the_log_start(
    tmp_path: Path,
) -> None:
    """The snapshot at the end alone knows them."""
    log_end = filled(tmp_path)
    with last(tmp_path, ".log").open("ab") as file:
        file.write(b"torn")
    log = open_log(tmp_path, CONFIG, recovery_point=log_end, log_start_offset=log_end - 1)
    log.prepare_first_use()
    assert log.log_end_offset == log_end
    (result,) = log.append([batch(producer=(7, 0, BATCHES // 2 - 1))], 3, NOW_MS)
    assert result.duplicate


def test_retention_of_all_of_a_log_sees_first_where_it_ends(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    torn(tmp_path)
    log = open_log(tmp_path, LogConfig(retention_ms=1), recovery_point=log_end)
    assert len(delete_old_segments(log, NOW_MS + 100_000, log_end)) == 2
    assert (log.log_start_offset, log.log_end_offset) == (log_end - 1, log_end - 1)
    (result,) = log.append([batch()], 3, NOW_MS)
    assert result.base_offset == log_end - 1


def test_retention_goes_by_what_the_first_use_left(tmp_path: Path) -> None:
    log_end = filled(tmp_path)
    path = last(tmp_path, ".log")
    start = int(path.stem) + 5
    data = path.read_bytes()
    path.write_bytes(data[:64] + bytes([data[64] ^ 1]) + data[65:-1])
    log = open_log(
        tmp_path, LogConfig(retention_ms=1), recovery_point=log_end, log_start_offset=start
    )
    assert delete_old_segments(log, NOW_MS + 100_000, log_end) == []
    assert (len(log.local.segments), log.log_start_offset, log.log_end_offset) == (1, start, start)

"""Files of a log directory that are missing, empty, or have a flipped byte: what is intact is read,
whatever lies beside it, and the broker's log says what was wrong."""

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.log_manager import DEFAULT_INTERVALS, LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import CONTROL, TRANSACTIONAL, Record, encode_batch, iter_batches
from tests.brokerd.log.cleaner.support import ABORT
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, headers, open_manager, records

CONFIG = LogConfig(segment_bytes=1500, index_interval_bytes=200, file_delete_delay_ms=0)
END = 40
FLIPS = 12
"""Places in a file at which a byte is flipped."""


def open_in(directory: Path) -> LogManager:
    return open_manager([str(directory)], 1, now_ms=NOW_MS)


def the_log(manager: LogManager) -> UnifiedLog:
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS, is_new=False)
    log.high_watermark = log.log_end_offset
    return log


def log_or_refusal(manager: LogManager) -> UnifiedLog | KafkaError:
    try:
        return the_log(manager)
    except KafkaError as error:
        return error


def transact(log: UnifiedLog, record: Record, flags: int, sequence: int) -> None:
    view = encode_batch(
        [record], base_offset=log.log_end_offset, leader_epoch=0, producer_id=9, producer_epoch=0,
        base_sequence=sequence, attributes=TRANSACTIONAL | flags,
    )  # fmt: skip
    log.append_replicated(list(iter_batches(memoryview(view))), NOW_MS)


def fill(directory: Path, *, clean: bool) -> None:
    """An aborted transaction, then an idempotent producer over several segments."""
    manager = open_in(directory)
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    transact(log, Record(0, NOW_MS, b"k", bytes(10)), 0, 0)
    transact(log, Record(0, NOW_MS + 1, ABORT, bytes(6)), CONTROL, -1)
    for at in range(2, END, 2):
        log.append(
            [batch(2, size=60, timestamp_ms=NOW_MS + at, producer=(7, 0, at - 2))], at // 20, NOW_MS
        )
    if clean:
        manager.shutdown()
    else:
        manager.tasks.tick_checkpoints(NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
        manager.dirs.unlock()


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    made = {clean: tmp_path_factory.mktemp("log") for clean in (True, False)}
    for clean, directory in made.items():
        fill(directory, clean=clean)
    return made


def damages(path: Path) -> Iterator[bytes | None]:
    """What may be in the file instead; None for no file."""
    data = path.read_bytes()
    yield None
    yield b""
    for number in range(FLIPS if data else 0):
        at = number * len(data) // FLIPS
        yield data[:at] + bytes([data[at] ^ 1 << number % 8]) + data[at + 1 :]


def damaged(template: Path, work: Path, pattern: str) -> Iterator[Path]:
    """The directory with each damage of each file that matches."""
    found = sorted(template.glob(pattern))
    assert found, pattern
    for path in found:
        for data in damages(path):
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(template, work)
            target = work / path.relative_to(template)
            target.unlink()
            if data is not None:
                target.write_bytes(data)
            yield target


def assert_everything_is_there(log: UnifiedLog) -> None:
    assert [(each.offset, each.timestamp_ms) for each in records(log)] == [
        (offset, NOW_MS + offset) for offset in range(END)
    ]
    for at in (0, 3, 17, END - 1):
        assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + at) == (
            at,
            NOW_MS + at,
            at // 20,
        )
    assert fetch_offset_by_timestamp.largest(log) == (END - 1, NOW_MS + END - 1, 1)
    (again,) = log.append([batch(2, producer=(7, 0, END - 4))], 1, NOW_MS)
    assert (again.duplicate, again.base_offset) == (True, END - 2)


REFUSED = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.INCONSISTENT_TOPIC_ID)
WITHOUT_LOSS = (
    "t-0/*.snapshot", "recovery-point-offset-checkpoint",
    ".kafka_cleanshutdown",
)  # fmt: skip


@pytest.mark.parametrize("pattern", WITHOUT_LOSS)
@pytest.mark.parametrize("clean", [True, False])
def test_whatever_happens_to_files_made_from_the_data_nothing_is_lost(
    templates: dict[bool, Path], tmp_path: Path, pattern: str, clean: bool
) -> None:
    if pattern == ".kafka_cleanshutdown" and not clean:
        pytest.skip("there is no such file after a crash")
    for path in damaged(templates[clean], tmp_path / "work", pattern):
        manager = open_in(tmp_path / "work")
        try:
            assert_everything_is_there(the_log(manager))
        except AssertionError as error:
            raise AssertionError(f"{path} with {path.exists() and path.read_bytes()!r}") from error
        assert manager.take_failed() == []
        manager.shutdown()


def claim(path: Path, position: int, length: int) -> None:
    """Has the batch at a position say that it is so long."""
    data = bytearray(path.read_bytes())
    struct.pack_into(">i", data, position + 8, length)
    path.write_bytes(data)


@pytest.mark.parametrize("length", [2000, 2**31 - 1])
@pytest.mark.parametrize("has_index", [True, False])
def test_readers_go_on_in_the_next_segment_behind_a_batch_that_claims_to_be_longer_than_its_own(
    templates: dict[bool, Path], tmp_path: Path, length: int, has_index: bool
) -> None:
    shutil.copytree(templates[True], tmp_path / "work")
    _, path, after, *_ = sorted((tmp_path / "work" / "t-0").glob("*.log"))
    bases = {}
    position = 0
    for header, _ in iter_batches(memoryview(path.read_bytes())):
        bases[position] = header.base_offset
        position += header.size_bytes
    first, lost = list(bases)[:2]
    if not has_index:
        path.with_suffix(".index").unlink()
    claim(path, lost, length)
    manager = open_in(tmp_path / "work")
    log = the_log(manager)
    following = int(after.stem)
    for offset in (bases[lost], bases[lost] + 1):
        assert next(headers(log, offset)).base_offset == following
    read = [each.offset for each in records(log, bases[first])]
    assert read == [*range(bases[first], bases[lost]), *range(following, END)]
    manager.shutdown()


def test_a_transaction_index_that_does_not_hold_together_is_made_anew(
    templates: dict[bool, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    template = templates[True]
    (path,) = template.glob("t-0/*.txnindex")
    whole = path.read_bytes()
    for at in (0, 1, 17):
        work = tmp_path / str(at)
        shutil.copytree(template, work)
        target = work / path.relative_to(template)
        target.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        manager = open_in(work)
        log = the_log(manager)
        found = log.read(0, 1 << 20, up_to=END, min_one_batch=True)
        assert found is not None
        assert log.aborted_transactions(0, found) == [(9, 0)], at
        found.release()
        manager.shutdown()
        assert target.read_bytes() == whole
        assert str(target) in caplog.text


@pytest.mark.parametrize("text", [None, "", "junk"])
def test_without_epochs_on_file_nothing_is_cut_that_lies_before_the_recovery_point(
    tmp_path: Path, text: str | None
) -> None:
    manager = open_in(tmp_path)
    log = manager.create("t", 0, TOPIC_ID, CONFIG, NOW_MS)
    for at in range(END):
        log.append([batch(size=60, timestamp_ms=NOW_MS + at)], at // 20, NOW_MS)
    manager.tasks.tick_checkpoints(NOW_MS + DEFAULT_INTERVALS.checkpoint_interval_ms)
    manager.dirs.unlock()
    first, *_ = sorted(tmp_path.glob("t-0/*.log"))
    data = bytearray(first.read_bytes())
    data[200] ^= 1
    first.write_bytes(data)
    path = tmp_path / "t-0" / "leader-epoch-checkpoint"
    path.unlink()
    if text is not None:
        path.write_text(text)
    manager = open_in(tmp_path)
    log = the_log(manager)
    assert (log.log_start_offset, log.log_end_offset) == (0, END)
    assert log.epochs.entries == [(0, 0), (1, 20)]
    manager.shutdown()


def test_a_log_start_behind_the_end_of_a_clean_stop_deletes_nothing(
    templates: dict[bool, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(templates[True], tmp_path / "work")
    (tmp_path / "work" / "log-start-offset-checkpoint").write_text("0\n1\nt 0 9000\n")
    manager = open_in(tmp_path / "work")
    assert_everything_is_there(the_log(manager))
    assert "cannot start at 9000" in caplog.text
    manager.shutdown()


def test_a_flipped_topic_id_keeps_the_records_for_a_person_to_look_at(
    templates: dict[bool, Path], tmp_path: Path
) -> None:
    refused = 0
    for path in damaged(templates[True], tmp_path / "work", "t-0/partition.metadata"):
        manager = open_in(tmp_path / "work")
        outcome = log_or_refusal(manager)
        if isinstance(outcome, KafkaError):
            assert outcome.code in REFUSED
            assert str(path) in outcome.message
            refused += 1
        else:
            assert_everything_is_there(outcome)
        assert manager.take_failed() == []
        manager.shutdown()
        assert sum(each.stat().st_size for each in path.parent.glob("*.log"))
    assert refused > FLIPS / 2


def test_foreign_files_and_directories_are_left_alone(
    templates: dict[bool, Path], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    shutil.copytree(templates[True], work)
    foreign = [
        work / "lost+found" / "x", work / "notes.txt", work / "t-0" / "readme", work / "t-x" / "y",
        work / "u-0.77-stray" / "z", work / "u-1.88-future" / "z", work / "t-0" / "1.log",
    ]  # fmt: skip
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("not ours")
    manager = open_in(work)
    assert_everything_is_there(the_log(manager))
    manager.shutdown()
    assert [path.read_text() for path in foreign] == ["not ours"] * len(foreign)

"""Batches whose header is damaged on disk: those before them and those of other segments are read,
looked up by time, kept over a restart and never compacted away."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import iter_batches
from tests.brokerd.log.cleaner.support import CompactedLog, keyed
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, batch, open_manager

BATCHES = 36
SEGMENT = 12
"""Batches of two records; so many fit a segment."""
SIZE = 399
"""The bytes of each."""
CONFIG = LogConfig(
    segment_bytes=SEGMENT * SIZE, index_interval_bytes=200, file_delete_delay_ms=0
)  # fmt: skip
END = 2 * BATCHES

Damage = Callable[[bytearray, int], None]


def flip(field_at: int, bit: int) -> Damage:
    def damage(data: bytearray, at: int) -> None:
        data[at + field_at] ^= 1 << bit

    return damage


def set_length(length: int) -> Damage:
    return lambda data, at: struct.pack_into(">i", data, at + 8, length)


def lose(size: int) -> Damage:
    def damage(data: bytearray, at: int) -> None:
        end = min(at + size, len(data))
        data[at:end] = bytes(end - at)

    return damage


DAMAGES: dict[str, Damage] = {
    "base offset, far": flip(0, 0),
    "base offset, in the segment": flip(7, 2),
    "base offset and length": lambda data, at: (flip(0, 0)(data, at), flip(8, 6)(data, at))[0],
    "length, too long": flip(8, 6),
    "length, two more batches": lambda data, at: set_length(
        2 * SIZE + struct.unpack_from(">i", data, at + 8)[0]
    )(data, at),
    "length, negative": flip(8, 7),
    "length, a bit more": flip(11, 7),
    "magic": flip(16, 0),
    "last offset delta, high": flip(23, 6),
    "last offset delta, negative": flip(23, 7),
    "last offset delta, a few": flip(26, 3),
    "last offset delta, one more": lambda data, at: data.__setitem__(at + 26, 2),
    "largest timestamp, far": flip(36, 4),
    "count": flip(57, 7),
    "a sector": lose(512),
    "the header": lose(61),
}


SEEN = {name: each for name, each in DAMAGES.items() if not name.startswith("base offset, in")}
"""Without a larger base offset, which no CRC guards: recovery cannot tell it from a gap."""


def open_in(directory: Path) -> LogManager:
    return open_manager([str(directory)], 1, now_ms=NOW_MS)


def the_log(manager: LogManager, config: LogConfig = CONFIG) -> UnifiedLog:
    log = manager.create("t", 0, TOPIC_ID, config, NOW_MS, is_new=False)
    log.prepare_first_use()
    log.high_watermark = log.log_end_offset
    return log


def a_batch(number: int) -> memoryview:
    return batch(2, size=157, timestamp_ms=NOW_MS + 2 * number)


def fill(directory: Path, config: LogConfig = CONFIG) -> None:
    assert len(a_batch(1)) == SIZE
    manager = open_in(directory)
    log = manager.create("t", 0, TOPIC_ID, config, NOW_MS)
    for number in range(BATCHES):
        log.append([a_batch(number)], 0, NOW_MS)
    manager.shutdown()


def damage_in(directory: Path, number: int, damage: Damage) -> set[int]:
    """Damages one batch; returns the offsets whose bytes are touched."""
    for path in sorted(directory.glob("t-0/*.log")):
        before = path.read_bytes()
        data = bytearray(before)
        for header, view in iter_batches(memoryview(before)):
            if header.base_offset == 2 * number:
                at = before.index(bytes(view))
                damage(data, at)
        path.write_bytes(data)
        touched = set()
        for header, view in iter_batches(memoryview(before)):
            at = before.index(bytes(view))
            if data[at : at + len(view)] != view:
                touched |= {header.base_offset, header.last_offset}
        if touched:
            return touched
    raise AssertionError(number)


def found_at(log: UnifiedLog, offset: int) -> list[int]:
    """The first and last offset of the batch that a read of an offset begins with."""
    found = log.read(offset, 1000, up_to=log.log_end_offset, min_one_batch=True)
    if found is None:
        return []
    data = memoryview(found.read())
    found.release()
    header, _ = next(iter_batches(data))
    return [header.base_offset, header.last_offset]


def read_at(log: UnifiedLog, offset: int) -> None:
    """A read that may find whatever is there."""
    try:
        found = log.read(offset, 1000, up_to=log.log_end_offset, min_one_batch=True)
    except KafkaError as error:
        if error.code != ErrorCode.CORRUPT_MESSAGE:
            raise
    else:
        if found is not None:
            found.release()


def assert_found(log: UnifiedLog, offsets: Sequence[int]) -> None:
    for order in (offsets, offsets[::-1]):
        for offset in order:
            assert found_at(log, offset) == [offset & ~1, offset | 1], offset
    for offset in offsets:
        expected = (offset, NOW_MS + offset, 0)
        assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + offset) == expected


def apart_from(number: int) -> list[int]:
    """The offsets before a batch, and those of other segments."""
    behind = (number // SEGMENT + 1) * SEGMENT
    return [*range(2 * number), *range(2 * behind, END)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("log")
    fill(directory)
    assert len(list(directory.glob("t-0/*.log"))) == 3
    return directory


@pytest.fixture
def work(template: Path, tmp_path: Path) -> Path:
    (tmp_path / "work" / "t-0").mkdir(parents=True)
    for path in template.rglob("*"):
        if path.is_file():
            (tmp_path / "work" / path.relative_to(template)).write_bytes(path.read_bytes())
    return tmp_path / "work"


CLOSED = {"first": SEGMENT, "second": SEGMENT + 1, "middle": SEGMENT + 6, "last": 2 * SEGMENT - 1}


@pytest.mark.parametrize("number", CLOSED.values(), ids=CLOSED)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_in_a_closed_segment_costs_nothing_before_it_nor_in_other_segments(
    work: Path, damage: Damage, number: int
) -> None:
    touched = damage_in(work, number, damage)
    for _ in range(2):  # the second time as the first has left it
        manager = open_in(work)
        log = the_log(manager)
        assert log.log_end_offset == END
        for offset in sorted(touched):
            read_at(log, offset)
        assert_found(log, apart_from(number))
        manager.shutdown()


@pytest.mark.parametrize("number", [2 * SEGMENT, 28, BATCHES - 4])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_in_the_active_segment_costs_nothing_before_it_whoever_reads_there(
    work: Path, damage: Damage, number: int
) -> None:
    touched = damage_in(work, number, damage)
    for _ in range(2):
        manager = open_in(work)
        log = the_log(manager)
        for offset in sorted(touched):
            read_at(log, offset)
        assert_found(log, range(2 * number))
        manager.shutdown()
    manager = open_in(work)
    log = the_log(manager)
    (result,) = log.append([a_batch(BATCHES)], 0, NOW_MS)
    assert found_at(log, result.last_offset) == [result.base_offset, result.last_offset]
    manager.shutdown()


def test_lost_data_behind_which_nothing_is_known_are_refused_as_kafka_does(work: Path) -> None:
    damage_in(work, 2 * SEGMENT - 2, lose(800))
    manager = open_in(work)
    log = the_log(manager)
    with pytest.raises(KafkaError) as refused:
        log.read(4 * SEGMENT - 3, 1000, up_to=END, min_one_batch=True)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert fetch_offset_by_timestamp.first_at_or_after(log, NOW_MS + 4 * SEGMENT - 3) == (
        4 * SEGMENT, NOW_MS + 4 * SEGMENT, 0
    )  # fmt: skip
    assert found_at(log, 4 * SEGMENT) == [4 * SEGMENT, 4 * SEGMENT + 1]
    manager.shutdown()


def crash(work: Path) -> None:
    """It was no clean stop, and what is durable ends before the last segments."""
    (work / ".kafka_cleanshutdown").unlink()
    (work / "recovery-point-offset-checkpoint").write_text(f"0\n1\nt 0 {4 * SEGMENT}\n")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_after_a_crash_what_lies_before_the_recovery_point_is_kept(
    work: Path, damage: Damage
) -> None:
    crash(work)
    damage_in(work, SEGMENT + 6, damage)
    manager = open_in(work)
    log = the_log(manager)
    assert log.log_end_offset == END
    assert_found(log, apart_from(SEGMENT + 6))
    manager.shutdown()


@pytest.mark.parametrize("damage", SEEN.values(), ids=SEEN)
def test_after_a_crash_a_log_behind_its_recovery_point_ends_where_the_damage_begins(
    work: Path, damage: Damage
) -> None:
    crash(work)
    damage_in(work, 30, damage)
    manager = open_in(work)
    log = the_log(manager)
    assert log.log_end_offset == 60
    assert found_at(log, 59) == [58, 59]
    (result,) = log.append([a_batch(30)], 0, NOW_MS)
    assert found_at(log, 60) == [60, 61] == [result.base_offset, result.last_offset]
    manager.shutdown()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_log_is_cut_where_it_is_told_to_whatever_is_damaged_there(
    work: Path, damage: Damage
) -> None:
    damage_in(work, 30, damage)
    manager = open_in(work)
    log = the_log(manager)
    read_at(log, 60)
    log.truncate_to(60)
    assert log.log_end_offset in (58, 60)
    (result,) = log.append([a_batch(log.log_end_offset // 2)], 0, NOW_MS)
    assert found_at(log, result.base_offset) == [result.base_offset, result.last_offset]
    assert found_at(log, 56) == [56, 57]
    manager.shutdown()
    manager = open_in(work)
    assert the_log(manager).log_end_offset == result.base_offset + 2
    manager.shutdown()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("number", [0, 3, 7])
def test_compaction_takes_no_record_for_the_sake_of_a_damaged_one(
    tmp_path: Path, damage: Damage, number: int
) -> None:
    """Each key is written once in the damaged segment and once in the next, so the last ones are
    intact and stay."""
    log = CompactedLog(tmp_path)
    for round_ in range(2):
        for each in range(8):
            log.append(keyed([(b"%d" % each, bytes([round_]) * 250)]))
        log.roll()
    path = min(Path(log.log.directory).glob("*.log"))
    data = bytearray(path.read_bytes())
    damage(data, number * (len(data) // 8))
    path.write_bytes(data)
    done = log.clean()
    for offset in range(8, 16):
        assert found_at(log.log, offset)[0] == offset
    if done.failed:
        assert list(log.cleaner.uncleanable) == [("t", 0)]
        assert path.read_bytes() == data

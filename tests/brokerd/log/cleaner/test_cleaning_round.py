"""Whole rounds over real files: nobody who reads the log from its start learns anything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerd.log import checkpoint_file, fetch_offset_by_timestamp
from brokerd.log.cleaner.worker_messages import Limits
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.protocol.records import read_header, write_crc
from tests.brokerd.log.cleaner.support import (
    COMPACTED,
    SMALL,
    CompactedLog,
    Pair,
    keyed,
    last_values,
)
from tests.brokerd.log.support import NOW_MS, batches, headers, reopen, segments_of, write_offsets

keys = st.none() | st.sampled_from([b"%d" % number for number in range(12)])
values = st.none() | st.binary(max_size=80)
some_pairs = st.lists(st.tuples(keys, values), min_size=1, max_size=12)
some_batches = st.lists(st.tuples(some_pairs, st.integers(0, 4)), min_size=1, max_size=60)


@contextmanager
def a_log(config: object = COMPACTED, limits: Limits = SMALL) -> Iterator[CompactedLog]:
    with TemporaryDirectory() as directory:
        yield CompactedLog(Path(directory), config, limits)  # type: ignore[arg-type]


def filled(log: CompactedLog, made: list[tuple[list[Pair], int]]) -> None:
    for number, (pairs, codec) in enumerate(made):
        log.append(keyed(pairs, codec=codec, timestamp_ms=NOW_MS + number))
    log.roll()


@settings(max_examples=60, deadline=None)
@given(some_batches, st.sampled_from([600, 3000, 100_000]), st.sampled_from([120, 1 << 16]))
def test_a_compacted_log_says_the_same_of_every_key(
    made: list[tuple[list[Pair], int]], segment_bytes: int, map_bytes: int
) -> None:
    config = replace(COMPACTED, segment_bytes=segment_bytes, min_cleanable_dirty_ratio=0.0)
    with a_log(config, replace(SMALL, map_bytes=map_bytes)) as log:
        log.roll()
        for pairs, codec in made:
            batch = keyed(pairs, codec=codec)
            if len(batch) <= segment_bytes:
                log.append(batch)
        log.append(keyed([(b"end", b"")]))
        log.roll()
        before = log.content()
        assert not log.clean().failed
        after = log.content()
        assert set(after) <= set(before)
        assert last_values(after) == last_values(before)
        by_offset = sorted(each[0] for each in after)
        assert [each[0] for each in after] == by_offset
        kept = [each[1] for each in after]
        assert None not in kept
        assert len(set(kept)) == len(kept)
        log.now_ms += 10**9
        write_offsets(log.manager, checkpoint_file.CLEANER, {})
        second = CompactedLogAgain(log)
        assert last_values(second.content()) == last_values(before)
        assert all(value is not None for _, _, value in second.content())


class CompactedLogAgain:
    """The same log cleaned once more from its start, after the delete horizons."""

    def __init__(self, log: CompactedLog) -> None:
        cleaner = log.cleaner
        known = next(iter(cleaner._known.values()))
        known.checkpoint = 0
        assert not log.clean().failed
        self.content = log.content


def test_a_second_cleaning_changes_nothing(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    filled(log, [([(b"%d" % (n % 7), b"x" * 50)], n % 5) for n in range(200)])
    log.clean()
    stored = [bytes(view) for _, view in batches(log.log)]
    CompactedLogAgain(log)
    assert [bytes(view) for _, view in batches(log.log)] == stored


def test_small_segments_are_joined_and_their_indexes_find_every_offset(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    filled(log, [([(b"%d" % n, b"x" * 100)], 0) for n in range(300)])
    for _ in range(2):
        filled(log, [([(b"%d" % n, b"y")], 0) for n in range(0, 300, 2)])
    count = len(segments_of(log.log))
    log.clean()
    CompactedLogAgain(log)  # joined are segments that were small before
    after = segments_of(log.log)
    assert len(after) < count
    assert sum(each.index_entries for each in after)
    offsets = [each[0] for each in log.content()]
    for offset in offsets:
        found = next(headers(log.log, offset))
        assert found.base_offset <= offset <= found.last_offset
    gone = next(offset for offset in range(600) if offset not in offsets)
    assert next(headers(log.log, gone)).base_offset > gone
    assert fetch_offset_by_timestamp.first_at_or_after(log.log, NOW_MS) is not None


def test_a_map_too_small_for_all_keys_takes_several_rounds(tmp_path: Path) -> None:
    config = replace(COMPACTED, min_cleanable_dirty_ratio=0.0)
    log = CompactedLog(tmp_path, config, replace(SMALL, map_bytes=24 * 30))
    filled(log, [([(b"%d" % (n % 100), b"x")], 0) for n in range(400)])
    expected = last_values(log.content())
    log.clean()
    assert len(log.workers.jobs) > 2
    ends = [done.end_offset for done in log.workers.done]
    assert ends == sorted(set(ends))
    assert last_values(log.content()) == expected
    assert ends[-1] == 400


def test_the_producers_last_batch_is_known_over_a_restart(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    for number in range(20):
        log.append(keyed([(b"k", b"v")], producer=(7, 1, number)))
    for _ in range(5):
        log.append(keyed([(b"k", b"w" * 900)]))
    log.roll()
    log.clean()
    empty = [header for header in headers(log.log) if header.count == 0]
    assert [(each.producer_id, each.base_sequence, each.base_offset) for each in empty] == [
        (7, 19, 19)
    ]
    for path in Path(log.log.directory).glob("*.snapshot"):
        path.unlink()
    again = reopen(log.log, clean=False)
    (result,) = again.append([keyed([(b"k", b"v")], producer=(7, 1, 19))], 0, NOW_MS)
    assert (result.duplicate, result.base_offset) == (True, 19)
    (result,) = again.append([keyed([(b"k", b"v")], producer=(7, 1, 20))], 0, NOW_MS)
    assert result.error is None


def test_a_batch_that_lies_sets_the_log_aside_and_is_named(tmp_path: Path) -> None:
    log = CompactedLog(tmp_path)
    lying = keyed([(b"k", b"1"), (b"k", b"2")])
    lying[65] = 78  # the length of the first key
    write_crc(lying)
    log.append(keyed([(b"k", b"0")]), lying, keyed([(b"k", b"3")]))
    log.roll()
    done = log.clean()
    why = "the batch at offset 1 is damaged: a field of a record does not fit it"
    assert done.failed == why
    assert log.cleaner.uncleanable == {("t", 0): why}
    assert [header.base_offset for header in headers(log.log)] == [0, 1, 3]


def test_a_segment_that_is_no_chain_of_batches_sets_the_log_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = CompactedLog(tmp_path)
    filled(log, [([(b"k", b"x" * 100)], 0) for _ in range(100)])
    first = min(Path(log.log.directory).glob("*.log"))
    data = bytearray(first.read_bytes())
    second_at = read_header(data).size_bytes
    data[second_at + 16] = 9
    first.write_bytes(data)
    done = log.clean()
    assert f"{first}: no whole batch begins at byte" in done.failed
    assert list(log.cleaner.uncleanable) == [("t", 0)]
    assert "t-0 cannot be compacted and is set aside" in caplog.text
    assert not list(Path(log.log.directory).glob("*.cleaned"))
    log.clean()
    assert len(log.workers.jobs) == 1


def test_an_empty_segment_that_compaction_left_is_let_go_by_retention(tmp_path: Path) -> None:
    config = replace(COMPACTED, cleanup_policy=("compact", "delete"), retention_ms=1000)
    log = CompactedLog(tmp_path, config)
    for _ in range(2):
        log.append(keyed([(b"k", b"x" * 2000)]), keyed([(b"k", b"y" * 900)]))
        log.roll()
    log.clean()
    delete_old_segments(log.log, NOW_MS + 10**12, log.log.high_watermark)
    assert log.content() == []
    assert log.log.log_start_offset == 4

"""Aborted transactions of a log of many segments: looked for only where there are any."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import LogSegments
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, open_log
from tests.brokerd.log.test_transactions import ABORT, aborted, data, end, plain

SEGMENTS = 30


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The base offsets of the segments that are asked from now on."""
    asked: list[int] = []
    real = LogSegment.aborted.fget
    assert real is not None

    def told(segment: LogSegment) -> list[AbortedTxn]:
        asked.append(segment.base_offset)
        return real(segment)

    monkeypatch.setattr(LogSegment, "aborted", property(told))
    return asked


def rolled(log: UnifiedLog, count: int) -> None:
    for _ in range(count):
        plain(log)
        log.roll(NOW_MS)


def test_segments_without_aborted_transactions_are_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path)
    rolled(log, SEGMENTS)
    asked = looked_at(monkeypatch)
    assert aborted(log, 0) == []
    assert len(asked) > SEGMENTS
    asked.clear()
    for offset in range(SEGMENTS):
        assert aborted(log, offset) == []
    assert set(asked) == {SEGMENTS}  # the active one
    rolled(log, 1)
    asked.clear()
    assert aborted(log, 3) == aborted(log, 3) == []
    assert len(asked) == 3


def test_a_marker_in_the_segment_written_to_or_just_closed_is_found(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    first = data(log, 5)
    rolled(log, SEGMENTS)
    assert log.last_stable_offset(log.log_end_offset) == first
    second = data(log, 6)
    end(log, 5, ABORT)
    assert aborted(log, 0) == [(5, first)]
    rolled(log, 2)
    assert aborted(log, 0) == [(5, first)]
    end(log, 6, ABORT)
    rolled(log, 2)
    assert aborted(log, 0, 1) == [(5, first)]
    assert aborted(log, second - 1, 1 << 20) == [(5, first)]
    assert aborted(log, second) == [(5, first), (6, second)]


def test_how_much_there_is_to_read_is_told_of_the_newest_segment_only(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(6):
        plain(log)
        if log.log_end_offset == 3:
            log.roll(NOW_MS)
    size = log.size_bytes // 6

    def told(offset: int, up_to: int) -> int | None:
        without = log.bytes_below(offset, up_to, None)
        found = log.read(offset, 1, up_to=up_to, min_one_batch=True)
        assert log.bytes_below(offset, up_to, found) == without
        return without

    assert [told(0, 2), told(1, 2), told(0, 3), told(2, 6)] == [size * 2, size, None, None]
    assert [told(offset, 6) for offset in (3, 4, 5)] == [size * 3, size * 2, size]
    assert told(4, 5) == size


ACTIONS = st.lists(
    st.one_of(
        st.just(("roll", 0)), st.tuples(st.just("data"), st.integers(1, 3)),
        st.tuples(st.just("abort"), st.integers(1, 3)), st.just(("look", 0)),
        st.tuples(st.just("cut"), st.integers(1, 4)), st.tuples(st.just("drop"), st.integers(1, 3)),
    ),
    min_size=10, max_size=60,
)  # fmt: skip


def do(log: UnifiedLog, kind: str, number: int, sequences: dict[int, int]) -> None:
    if kind == "roll":
        log.roll(NOW_MS)
    elif kind == "data":
        sequences[number] = sequences.get(number, -1) + 1
        data(log, number, sequence=sequences[number])
    elif kind == "abort":
        end(log, number, ABORT)
    elif kind == "cut":
        log.truncate_to(max(log.log_end_offset - number, log.log_start_offset))
    elif kind == "drop":
        log.delete_records_before(min(log.log_start_offset + number, log.log_end_offset))
        delete_old_segments(log, NOW_MS, log.log_end_offset)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(actions=ACTIONS)
def test_whatever_happened_before_the_same_transactions_are_found(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]]
) -> None:
    log = open_log(tmp_path_factory.mktemp("log"))
    sequences: dict[int, int] = {}
    for kind, number in actions:
        do(log, kind, number, sequences)
        known = log._segments
        for offset in range(log.log_start_offset, log.log_end_offset, 2):
            fresh = LogSegments(list(known))
            assert known.aborted_across(offset) == fresh.aborted_across(offset)

"""Where a reset moves partitions, and what users type to choose them."""

import pytest

from console.groups.compute_reset_offsets import (
    CommitInLog,
    InvalidInput,
    ResetEffect,
    ResetTo,
    duration_ms,
    new_offsets,
    reset_effect,
)

KEY, OTHER = ("orders", 0), ("orders", 1)
COMMIT = CommitInLog(60, range(10, 100))
NEVER = CommitInLog(None, range(10, 100))


@pytest.mark.parametrize(
    ("how", "number", "given", "expected"),
    [
        (ResetTo.EARLIEST, 0, None, 10),
        (ResetTo.LATEST, 0, None, 100),
        (ResetTo.OFFSET, 70, None, 70),
        (ResetTo.OFFSET, 100, None, 100),
        (ResetTo.SHIFT, -20, None, 40),
        (ResetTo.SHIFT, -1000, None, 10),
        (ResetTo.SHIFT, 1000, None, 100),
        (ResetTo.TIME, 0, 33, 33),
        (ResetTo.TIME, 0, None, 100),
        (ResetTo.DURATION, 0, 33, 33),
        (ResetTo.FILE, 0, 12, 12),
        (ResetTo.GROUP, 0, 88, 88),
        (ResetTo.GROUP, 0, 5, 10),
    ],
)
def test_each_way_has_its_offset(how, number, given, expected):
    found = new_offsets(how, {KEY: COMMIT}, number=number, given={KEY: given})
    assert found == {KEY: expected}


@pytest.mark.parametrize(
    ("how", "number"), [(ResetTo.OFFSET, 9), (ResetTo.OFFSET, 101), (ResetTo.FILE, 5)]
)
def test_an_exact_offset_outside_of_the_log_is_refused(how, number):
    with pytest.raises(InvalidInput, match=r"which has 10–100"):
        new_offsets(how, {KEY: COMMIT}, number=number, given={KEY: number})


def test_a_partition_without_a_commit_has_no_offset_to_shift_and_none_of_another_group():
    commits = {KEY: COMMIT, OTHER: NEVER}
    assert new_offsets(ResetTo.SHIFT, commits, number=1) == {KEY: 61}
    assert new_offsets(ResetTo.GROUP, commits, given={OTHER: 50}) == {OTHER: 50}


def test_a_move_back_reads_again_and_a_move_forward_skips():
    assert reset_effect(COMMIT, 40) == ResetEffect(read_again=20, lag=60)
    assert reset_effect(COMMIT, 75) == ResetEffect(skipped=15, lag=25)
    assert reset_effect(COMMIT, 60) == ResetEffect(lag=40)
    assert reset_effect(COMMIT, None) == ResetEffect()


def test_deleted_records_are_neither_read_again_nor_skipped():
    assert reset_effect(CommitInLog(3, range(10, 100)), 30) == ResetEffect(skipped=20, lag=70)
    assert reset_effect(CommitInLog(60, range(10, 100)), 3) == ResetEffect(read_again=50, lag=97)


def test_a_move_of_a_partition_without_a_commit_is_neither_back_nor_forward():
    assert reset_effect(NEVER, 10) == ResetEffect(lag=90)


def test_a_duration_has_a_unit():
    assert [duration_ms(text) for text in ("30 s", "15min", "2 H", "7d", "1 week")] == [
        30_000, 900_000, 7_200_000, 604_800_000, 604_800_000,
    ]  # fmt: skip
    for text in ("", "5", "-1 h", "2 years"):
        with pytest.raises(InvalidInput):
            duration_ms(text)

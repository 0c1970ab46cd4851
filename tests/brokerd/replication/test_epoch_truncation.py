"""Fencing by leader epoch, and where a follower cuts its log."""

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.replication.epoch_truncation import check_current_epoch, truncation


def test_the_current_epoch_and_none_at_all_pass() -> None:
    check_current_epoch(5, 5)
    check_current_epoch(-1, 5)


@pytest.mark.parametrize(
    ("requested", "code"),
    [(4, ErrorCode.FENCED_LEADER_EPOCH), (6, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_other_epochs_are_refused(requested: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        check_current_epoch(requested, 5)
    assert caught.value.code is code


@pytest.mark.parametrize(
    ("leader_answer", "own_answer", "expected"),
    [
        ((5, 40), (5, 50), (40, True)),  # the same epoch, the leader has less
        ((5, 90), (5, 50), (50, True)),  # the same epoch, the leader has more
        ((-1, -1), (-1, -1), (30, True)),  # the leader knows nothing: the high watermark
        ((3, 20), (3, 25), (20, True)),  # an older epoch that both know
        ((3, 25), (3, 20), (20, True)),
        ((3, 20), (2, 10), (10, False)),  # one that the follower lacks: ask again
        ((3, 20), (-1, -1), (20, True)),
    ],
)
def test_the_cut_is_where_the_logs_part(
    leader_answer: tuple[int, int], own_answer: tuple[int, int], expected: tuple[int, bool]
) -> None:
    assert truncation(5, leader_answer, lambda epoch: own_answer, 50, 30) == expected

"""Where a follower cuts its log."""

import pytest

from brokerd.replication.offset_truncation_state import offset_truncation_state


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
    assert offset_truncation_state(5, leader_answer, lambda epoch: own_answer, 50, 30) == expected

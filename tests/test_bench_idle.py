"""What the bench of an idle stack makes of two readings of its processes."""

import pytest

from bench import idle

MB = 1_000_000


def test_the_total_leaves_out_the_cluster_itself() -> None:
    before = {"web": (10.0, 0), "redis": (1.0, 0), "broker-1": (5.0, 0)}
    after = {"web": (11.0, 100 * MB), "redis": (1.5, 20 * MB), "broker-1": (9.0, 40 * MB)}
    total, web, *_ = idle.rows_of(before, after, 10.0).values()
    assert (total.rate, total.cpu) == pytest.approx((0.15, 120))
    assert (web.rate, web.cpu) == pytest.approx((0.1, 100))


def test_a_process_that_was_started_again_fails_the_row() -> None:
    with pytest.raises(RuntimeError, match="these processes ended: web"):
        idle.rows_of({"web": (10.0, 0)}, {"web": (0.5, 0)}, 10.0)

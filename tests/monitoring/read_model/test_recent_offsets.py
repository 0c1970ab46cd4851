"""States and rates of partitions over several ticks, whose tables change."""

from typing import Any

import numpy as np

from monitoring.lag.lag_state import LagState
from monitoring.read_model.recent_offsets import rates
from monitoring.read_model.row_types import GroupRow, LagRow
from monitoring.read_model.snapshot import Snapshot
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import Scope
from tests.monitoring.tick_factory import make_tick

INTERVAL_MS = 10_000


def row(partition: int, committed: int | None, end: int, **changes: Any) -> dict[str, Any]:
    told = {
        "group": "g", "state": "Stable", "members": 1, "topic": "orders", "partition": partition,
        "committed_offset": committed, "log_end_offset": end, "member_id": "m",
    }  # fmt: skip
    return told | changes


def place(partition: int, end: int) -> dict[str, Any]:
    return {
        "topic": "orders", "partition": partition, "leader": 1, "replicas": [1], "isr": [1],
        "log_start_offset": 100, "log_end_offset": end,
    }  # fmt: skip


def after(*ticks: list[dict[str, Any]], scope: Scope | None = None) -> Snapshot:
    """The snapshot after ticks with these rows of groups, 10 seconds apart."""
    columns = None
    for number, rows in enumerate(ticks):
        tick = make_tick(
            1000 + number,
            groups=rows,
            partitions=[place(number, 500) for number in range(3)],
            interval_ms=INTERVAL_MS,
        )
        columns = TickColumns.of(tick, columns)
    assert columns is not None
    return Snapshot(columns, scope or Scope())


def group(snapshot: Snapshot) -> GroupRow:
    found = snapshot.group("g")
    assert found is not None
    return found


def lags(snapshot: Snapshot) -> list[LagRow]:
    return snapshot.lags(group="g")


def ten(make: Any) -> list[list[dict[str, Any]]]:
    return [make(step) for step in range(10)]


def test_a_group_has_the_state_of_its_worst_partition_and_the_rates_of_all():
    snapshot = after(
        *ten(lambda step: [row(0, 100 + 10 * step, 400 + 20 * step), row(1, 300, 400 + step)])
    )
    found = group(snapshot)
    assert found.lag_state == LagState.STALLED
    assert found.lag_states == ((LagState.STALLED, 1), (LagState.GROWING, 1))
    assert (round(found.consumed_rate or 0, 6), round(found.produced_rate or 0, 6)) == (1.0, 2.1)
    assert round(found.lag_rate or 0, 6) == 1.1
    assert [each.lag_state for each in lags(snapshot)] == [LagState.GROWING, LagState.STALLED]


def test_a_partition_is_stalled_when_its_last_commit_is_five_minutes_old():
    def state_after(steps: int) -> LagState:
        commits = [100, *[200] * steps]
        (found,) = lags(after(*([row(0, commit, 400)] for commit in commits)))
        return found.lag_state

    assert state_after(30) == LagState.DRAINING
    assert state_after(32) == LagState.STALLED


def test_rows_that_change_places_keep_their_observations():
    def rows(step: int) -> list[dict[str, Any]]:
        both = [row(0, 300, 400), row(1, 100 + step, 101 + step)]
        new = [row(7, 5, 50, group="a", topic="added")] if step > 4 else []
        return new + (both[::-1] if step % 2 else both)

    found = lags(after(*ten(rows)))
    assert [each.lag_state for each in found] == [LagState.STALLED, LagState.CAUGHT_UP]


def test_a_partition_without_a_commit_is_counted_with_the_records_that_it_holds():
    snapshot = after([row(0, None, 500), row(1, 500, 500), row(2, None, 500)])
    found = group(snapshot)
    assert (found.lag, found.not_committed, found.uncommitted_records) == (0, 2, 800)
    assert found.lag_state == LagState.NOT_COMMITTED
    assert [each.uncommitted_records for each in lags(snapshot)] == [400, None, 400]


def test_what_is_below_the_log_start_is_counted_as_deleted():
    snapshot = after([row(0, 30, 500), row(1, 200, 500), row(2, None, 500), row(9, 30, 500)])
    found = [(each.lag, each.deleted_records) for each in lags(snapshot)]
    assert found == [(470, 70), (300, 0), (None, None), (470, None)]


def test_the_records_of_a_partition_that_is_not_in_the_sample_are_unknown():
    found = group(after([row(9, None, 500), row(0, None, 500)]))
    assert (found.not_committed, found.uncommitted_records) == (2, None)


def test_topics_outside_of_the_scope_are_in_no_state():
    rows = [row(0, 500, 500), row(0, 10, 500, topic="secret", member_id=None)]
    assert group(after(rows)).lag_state == LagState.NO_MEMBERS
    assert group(after(rows, scope=Scope(topics=("orders",)))).lag_state == LagState.CAUGHT_UP


def test_old_observations_are_dropped():
    columns = None
    for number in range(100):
        tick = make_tick(1000 + number, groups=[row(0, 1, 2)], interval_ms=INTERVAL_MS)
        columns = TickColumns.of(tick, columns)
    assert columns is not None
    at_ms = columns.commits.times_ms
    assert len(at_ms) <= 12
    assert at_ms[-1] - at_ms[0] <= 5 * 60_000


def test_a_rate_is_unknown_until_there_are_two_values():
    values = np.array([[-1, 0, 5], [-1, 30, 5], [7, 60, -1]])
    found = rates(np.array([0, 30_000, 60_000]), values)
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == 1.0

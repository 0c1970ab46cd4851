"""What members of groups hold in memory has a bound, for all groups of a broker together."""

import pytest

from brokerd.coordinator.group import member_memory_limit
from brokerd.coordinator.group.group_coordinator_shard import GroupCoordinatorShard
from brokerd.coordinator.group.member_memory_limit import MEMBER_BYTES
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, Bench

LIMIT_BYTES = 20 * MEMBER_BYTES
FULL = ErrorCode.GROUP_MAX_SIZE_REACHED


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_memory_limit, "MEMBER_MEMORY_BYTES_MAX", LIMIT_BYTES)


def subscribed(size: int) -> tuple[tuple[str, bytes], ...]:
    return (("range", bytes(size)),)


def error_of(bench: Bench, member_id: str = "", **fields: object) -> ErrorCode | None:
    """Of a join; None where it waits."""
    joined = bench.join(member_id, **fields)
    return None if joined is None else joined.error


def test_a_join_that_brings_more_than_there_is_room_for_is_refused_and_leaves_nothing() -> None:
    bench = Bench()
    assert error_of(bench, protocols=subscribed(LIMIT_BYTES)) is FULL
    assert error_of(bench, client_id="x" * LIMIT_BYTES) is FULL
    assert error_of(bench, instance_id="x" * LIMIT_BYTES) is FULL
    assert bench.core.held_bytes == 0
    assert [*bench.core.listings()] == []
    assert error_of(bench) is None


def test_all_groups_share_the_room_and_who_leaves_gives_it_back() -> None:
    bench = Bench()
    joins = [
        bench.send_join(group_id=f"g{number}", protocols=subscribed(MEMBER_BYTES))
        for number in range(9)
    ]
    assert error_of(bench, group_id="another", protocols=subscribed(2 * MEMBER_BYTES)) is FULL
    assert error_of(bench, group_id="another", protocols=subscribed(100)) is None
    bench.pass_time(60_000)
    assert all(bench.replies[ticket].error is ErrorCode.NONE for ticket in joins)
    bench.pass_time(3_600_000)
    assert bench.core.held_bytes == 0


def test_ids_that_are_handed_out_take_room_until_they_expire() -> None:
    bench = Bench()
    errors = [
        error_of(bench, group_id=f"g{number % 3}", needs_known_member_id=True)
        for number in range(30)
    ]
    assert set(errors) == {ErrorCode.MEMBER_ID_REQUIRED, FULL}
    assert bench.core.held_bytes <= LIMIT_BYTES
    bench.pass_time(3_600_000)
    assert bench.core.held_bytes == 0


def test_a_member_comes_back_however_full_it_is_unless_it_brings_more() -> None:
    bench = Bench()
    [leader] = bench.stable_group(protocols=subscribed(15 * MEMBER_BYTES))
    assert error_of(bench, group_id="other", protocols=subscribed(4 * MEMBER_BYTES)) is FULL
    more = subscribed(19 * MEMBER_BYTES)
    assert error_of(bench, leader.member_id, protocols=more) is FULL
    again = bench.join(leader.member_id, protocols=subscribed(15 * MEMBER_BYTES))
    assert again is not None
    assert again.error is ErrorCode.NONE


def test_assignments_count_and_a_leader_that_brings_too_much_is_refused() -> None:
    bench = Bench()
    ticket = bench.send_join()
    bench.pass_time(bench.config.initial_rebalance_delay_ms)
    joined = bench.replies[ticket]
    too_much = {joined.member_id: bytes(LIMIT_BYTES)}
    refused = bench.sync(joined, too_much)
    assert refused is not None
    assert refused.error is FULL
    taken = bench.sync(
        joined, {joined.member_id: bytes(LIMIT_BYTES // 2), "nobody": bytes(LIMIT_BYTES)}
    )
    assert taken is not None
    assert taken.error is ErrorCode.NONE
    assert LIMIT_BYTES // 2 < bench.core.held_bytes < LIMIT_BYTES
    bench.restart()
    assert bench.core.held_bytes > LIMIT_BYTES // 2
    assert bench.state(GROUP) == "Stable"


def test_coordinators_of_one_broker_share_the_room() -> None:
    bench = Bench()
    bench.core = GroupCoordinatorShard(bench.config, lambda: LIMIT_BYTES - MEMBER_BYTES)
    assert error_of(bench) is FULL


def test_names_of_groups_count_until_the_groups_are_dropped() -> None:
    bench = Bench()
    names = [f"{number}" * 4 * MEMBER_BYTES for number in range(9)]
    errors = [error_of(bench, group_id=name, needs_known_member_id=True) for name in names]
    assert errors == [ErrorCode.MEMBER_ID_REQUIRED] * 3 + [FULL] * 6
    bench.pass_time(60_000)
    assert bench.core.held_bytes == 12 * MEMBER_BYTES
    bench.pass_time(3_600_000)
    assert bench.core.held_bytes == 0

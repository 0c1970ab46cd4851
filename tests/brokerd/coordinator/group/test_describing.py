"""What ListGroups and DescribeGroups are told."""

from brokerd.coordinator.group.messages import GroupListing, OffsetToCommit
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, RANGE, Bench


def test_a_stable_group_shows_subscriptions_and_assignments() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    described = bench.core.describe(GROUP)
    assert (described.state, described.protocol_type) == ("Stable", "consumer")
    assert described.protocol == "range"
    shown = described.members[0]
    assert (shown.client_id, shown.client_host) == ("client", "/127.0.0.1")
    assert (shown.subscription, shown.assignment) == (RANGE[0][1], member.member_id.encode())


def test_a_rebalancing_group_shows_its_members_alone() -> None:
    bench = Bench()
    leader, _ = bench.stable_group(2)
    bench.send_join(leader.member_id)
    described = bench.core.describe(GROUP)
    assert (described.state, described.protocol) == ("PreparingRebalance", "")
    assert {(m.subscription, m.assignment) for m in described.members} == {(b"", b"")}


def test_an_unknown_group_is_dead() -> None:
    assert Bench().core.describe("nobody").state == "Dead"


def test_every_group_is_listed_with_its_kind_and_state() -> None:
    bench = Bench()
    bench.stable_group()
    bench.commit(OffsetToCommit("t", 0, 1), group_id="standalone")
    assert set(bench.core.listings()) == {
        GroupListing(GROUP, "consumer", "Stable"),
        GroupListing("standalone", "", "Empty"),
    }

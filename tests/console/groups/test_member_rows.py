from console.groups.member_rows import members
from tests.monitoring.tick_factory import groups_table


def owned(partition, member, client, topic="a"):
    return {
        "group": "g", "topic": topic, "partition": partition, "log_end_offset": 5,
        "committed_offset": partition, "member_id": member, "client_id": client,
    }  # fmt: skip


def test_members_are_sorted_by_client_with_their_partitions():
    rows = [owned(0, "m-2", "b"), owned(1, "m-1", "c"), owned(2, "m-2", "b"), owned(3, None, None)]
    found, count = members(groups_table(1, rows), 10)
    assert count == 2
    assert [(m["member_id"], m["partitions"], m["lag"].value, m["assigned"]) for m in found] == [
        ("m-2", 2, 8, ["a 0, 2"]),
        ("m-1", 1, 4, ["a 1"]),
    ]


def test_the_lag_of_a_member_counts_the_partitions_whose_lag_is_unknown():
    [member], _ = members(
        groups_table(1, [owned(0, "m", "c"), owned(1, "m", "c") | {"log_end_offset": None},
                         owned(2, "m", "c") | {"committed_offset": None}]), 10,
    )  # fmt: skip
    assert (member["lag"].value, member["lag"].missing, member["lag"].total) == (5, 1, 2)


def test_only_the_first_members_are_made_and_all_are_counted():
    found, count = members(groups_table(1, [owned(n, f"m{n}", "c") for n in range(4)]), 2)
    assert [member["member_id"] for member in found] == ["m0", "m1"]
    assert count == 4


def test_a_group_without_members_has_none():
    assert members(groups_table(1, []), 10) == ([], 0)
    assert members(groups_table(1, [owned(0, None, None)]), 10) == ([], 0)

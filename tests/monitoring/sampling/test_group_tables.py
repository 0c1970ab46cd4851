import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.answers import CoordinatorAnswers
from monitoring.gateway.wire.groups import DescribedGroup, ListedGroup, Member
from monitoring.gateway.wire.offset_fetch import GroupCommits, TopicCommits
from monitoring.sampling.group_tables import join_groups
from tests.monitoring.gateway.wire.answers import decoded_metadata

ALL_OF_ONE = dict.fromkeys(range(4), (1, (1,), (1,)))
KNOWN = decoded_metadata({"a": ALL_OF_ONE, "b": ALL_OF_ONE})


def ints(numbers, kind=np.int32):
    return np.array(list(numbers), dtype=kind)


def listed(name, state="Stable"):
    return ListedGroup(name, state, "consumer")


def committed(name, topics, error=0):
    return GroupCommits(
        name,
        error,
        tuple(TopicCommits(t, ints(found), ints(found.values(), np.int64)) for t, found in topics),
    )


def described(name, *members):
    return DescribedGroup(
        name,
        0,
        "Stable",
        tuple(
            Member(member, "client", "host", tuple((t, ints(ps)) for t, ps in owned.items()))
            for member, owned in members
        ),
    )


def told(*answers):
    rows = join_groups(KNOWN, answers)
    return [
        (
            rows.groups[g].group,
            rows.topics[t] if t >= 0 else None,
            p if p >= 0 else None,
            offset if offset >= 0 else None,
            rows.members[m].member_id if m >= 0 else None,
        )
        for g, t, p, offset, m in zip(
            rows.group_index.tolist(), rows.topic_index.tolist(), rows.partition.tolist(),
            rows.committed.tolist(), rows.member_index.tolist(), strict=True,
        )
    ]  # fmt: skip


def test_a_partition_that_a_group_without_members_never_committed_has_a_row():
    commits = committed("g", [("a", {0: 5, 2: 7})])
    answer = CoordinatorAnswers(1, [listed("g", "Empty")], [commits], [])
    assert told(answer) == [
        ("g", "a", 0, 5, None),
        ("g", "a", 1, None, None),
        ("g", "a", 2, 7, None),
        ("g", "a", 3, None, None),
    ]


def test_commits_and_assignments_are_joined():
    read = CoordinatorAnswers(
        1,
        [listed("g")],
        [committed("g", [("a", {0: 5, 1: 6})])],
        [described("g", ("m-1", {"a": [1, 2]}))],
    )
    assert told(read) == [
        ("g", "a", 0, 5, None),
        ("g", "a", 1, 6, "m-1"),
        ("g", "a", 2, None, "m-1"),
    ]


def test_a_group_without_commits_and_members_has_one_row_without_topic():
    assert told(CoordinatorAnswers(1, [listed("idle", "Empty")], [], [])) == [
        ("idle", None, None, None, None)
    ]


def test_commits_on_a_deleted_topic_have_rows():
    read = CoordinatorAnswers(1, [listed("g")], [committed("g", [("gone", {3: 9})])], [])
    assert told(read) == [("g", "gone", 3, 9, None)]


def test_a_group_whose_coordinator_refuses_its_commits_stays_listed():
    read = CoordinatorAnswers(1, [listed("g")], [committed("g", [("a", {0: 5})], error=14)], [])
    assert told(read) == [("g", None, None, None, None)]


def test_a_group_that_two_coordinators_list_appears_once():
    answers = [
        CoordinatorAnswers(b, [listed("g")], [committed("g", [("a", {0: b})])], []) for b in (1, 2)
    ]
    assert [row[:3] for row in told(*answers)] == [("g", "a", 0)]


def test_invalid_partition_numbers_are_left_out():
    read = CoordinatorAnswers(
        1, [listed("g")], [committed("g", [("a", {-5: 1, 2**30: 2, 0: 3})])], []
    )
    assert told(read) == [("g", "a", 0, 3, None)]


def test_a_member_with_200_000_partitions_has_only_existing_ones():
    read = CoordinatorAnswers(1, [listed("g")], [], [described("g", ("m", {"a": range(200_000)}))])
    rows = join_groups(KNOWN, [read])
    assert rows.partition.tolist() == [0, 1, 2, 3]
    assert rows.invalid.messages() == ["group g: partitions that topic a does not have"]
    assert rows.left_out_count == 0


UNKNOWN = "group g: most partitions of topics that the cluster does not have"


def test_partitions_of_deleted_topics_are_limited_per_group():
    owned = {f"u{number}": range(10_000) for number in range(110)} | {"a": range(4)}
    read = CoordinatorAnswers(
        1,
        [listed("g")],
        [committed("g", [("gone", {3: 9})])],
        [described("g", ("m", owned))],
    )
    rows = join_groups(KNOWN, [read])
    assert len(rows.partition) == response_limits.UNKNOWN_PARTITIONS_PER_GROUP_MAX + 4
    assert rows.topics == ["a", "b", "gone", "u0"], "topics of no row take no room"
    assert rows.invalid.messages() == [UNKNOWN]
    assert rows.left_out_count == 0


def test_partitions_of_deleted_topics_are_limited_over_all_groups(monkeypatch):
    monkeypatch.setattr(response_limits, "UNKNOWN_PARTITIONS_MAX", 10)
    read = CoordinatorAnswers(
        1,
        [listed("g"), listed("h")],
        [committed("g", [("x", dict.fromkeys(range(6), 1))])],
        [described("h", ("m", {"x": range(6), "a": [1]}))],
    )
    rows = join_groups(KNOWN, [read])
    assert np.bincount(rows.group_index).tolist() == [6, 5]
    assert rows.invalid.messages() == [UNKNOWN.replace("group g", "group h")]


def test_if_the_table_is_full_the_largest_group_is_left_out_and_reported(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_TABLE_BYTES_MAX", 1000)
    read = CoordinatorAnswers(
        1,
        [listed("big"), listed("small")],
        [committed("small", [("a", {0: 5})])],
        [described("big", ("m", {"a": [0] * 100}))],
    )
    rows = join_groups(KNOWN, [read])
    assert [group.group for group in rows.groups] == ["small"]
    assert rows.left_out_count == 1
    assert rows.invalid.messages() == ["group big: its commits and members, which are too many"]


def test_the_number_of_rows_is_limited(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_ROWS_MAX", 8)
    every = dict.fromkeys(range(4), 1)
    read = CoordinatorAnswers(
        1,
        [listed(name) for name in ("both", "bare", "three", "whole")],
        [committed("whole", [("a", every)]), committed("three", [("b", {0: 1, 1: 1, 2: 1})]),
         committed("both", [("a", every), ("b", every)])],
        [described("whole", ("m", {"a": range(4)}), ("n", {"a": range(4)}))],
    )  # fmt: skip
    rows = join_groups(KNOWN, [read])
    assert [group.group for group in rows.groups] == ["bare", "three", "whole"]
    assert rows.left_out_count == 1
    assert rows.invalid.messages() == ["group both: its commits and members, which are too many"]


def test_a_partition_of_many_members_counts_several_times(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_ROWS_MAX", 1000)
    members = [(f"m-{number}", {"a": range(4)}) for number in range(2000)]
    read = CoordinatorAnswers(1, [listed("g")], [], [described("g", *members)])
    rows = join_groups(KNOWN, [read])
    assert (rows.groups, rows.left_out_count) == ([], 1)


def test_the_member_count_is_unknown_if_members_were_not_read():
    read = CoordinatorAnswers(
        1,
        [listed("active"), listed("empty", "Empty"), listed("untold")],
        [],
        [described("active", ("m-1", {}), ("m-2", {}))],
    )
    rows = join_groups(KNOWN, [read])
    assert {g.group: g.member_count for g in rows.groups} == {
        "active": 2, "empty": 0, "untold": None,
    }  # fmt: skip


group_names = st.sampled_from(["g", "h", "i"])
topics = st.sampled_from(["a", "b", "gone"])
offsets = st.dictionaries(st.integers(0, 3), st.integers(0, 99), max_size=4)


@given(st.dictionaries(group_names, st.dictionaries(topics, offsets, max_size=3), max_size=3))
def test_the_join_equals_a_simple_one(groups):
    read = CoordinatorAnswers(
        1,
        [listed(name) for name in groups],
        [committed(name, found.items()) for name, found in groups.items()],
        [],
    )
    expected = []
    for name, found in groups.items():
        rows = [(name, t, p, o, None) for t, offs in found.items() for p, o in offs.items()]
        expected += rows or [(name, None, None, None, None)]
    assert sorted(told(read), key=str) == sorted(expected, key=str)

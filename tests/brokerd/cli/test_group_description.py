"""The order of the tables of consumer-groups."""

from brokerd.cli.group_description import Group, Member, offset_rows


def member(name: str, *partitions: int) -> Member:
    return Member(name, "", "/127.0.0.1", "c", tuple(("t", each) for each in partitions))


def test_who_owns_most_comes_first_then_who_owns_the_first_and_nobody_at_last() -> None:
    members = (member("x", 3), member("idle"), member("z", 0), member("y", 2, 1))
    group = Group("g", "Stable", "range", "", members)
    committed = {("t", each): 5 for each in (4, 0, 1)}
    rows = offset_rows(group, committed, {("t", 0): 7})
    assert [(row[2], row[6]) for row in rows] == [
        ("1", "y"), ("2", "y"), ("0", "z"), ("3", "x"), ("4", "-"),
    ]  # fmt: skip
    assert rows[2][3:6] == ("5", "7", "2")

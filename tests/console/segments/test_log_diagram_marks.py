"""Where the labels above the diagram of a log stand."""

import itertools

from console.segments.log_diagram_marks import (
    CHARACTER_PERCENT,
    GROUP,
    LOOKED_UP,
    ROWS_MAX,
    Mark,
    group_marks,
    limit_marks,
    with_label_rows,
)
from console.segments.log_diagram_scale import Scale

SCALE = Scale((0.0, 50.0, 100.0), (0, 1000, 2000), ())


def mark(x, label="label of a mark", kind=GROUP):
    return Mark(kind, x, label, label)


def span(found):
    width = CHARACTER_PERCENT * len(found.label)
    return (found.x, found.x + width) if found.anchor == "start" else (found.x - width, found.x)


def test_a_commit_is_marked_by_the_name_of_its_group_and_its_offset():
    [found] = group_marks(SCALE, [("billing", 500)])
    assert (found.kind, found.x, found.label) == (GROUP, 25, "billing at 500")
    assert found.title == "Committed offsets\nbilling: 500"


def test_commits_side_by_side_share_a_mark_that_names_all():
    found = group_marks(SCALE, [("c", 2000), ("a", 1999), ("b", 2000), ("far", 100)])
    assert [each.label for each in found] == ["a and 2 more", "far at 100"]
    assert found[0].title.splitlines()[1:] == ["a: 1\u202f999", "b: 2\u202f000", "c: 2\u202f000"]


def test_a_long_name_is_cut_in_the_label_and_whole_in_the_title():
    [found] = group_marks(SCALE, [("x" * 200, 5)])
    assert len(found.label) < 40
    assert "x" * 200 in found.title


def test_a_title_names_few_of_many_groups():
    [found] = group_marks(SCALE, [(f"g{n:03d}", 7) for n in range(100)])
    assert found.title.splitlines()[-1] == "and 70 more"


def test_ends_of_the_log_are_marked_where_they_are_not_those_of_the_strip():
    found = limit_marks(SCALE, [("log start", 0), ("last stable offset", 1500), ("end", 2000)])
    assert [(each.label, each.x) for each in found] == [("last stable offset 1\u202f500", 75)]


def test_no_label_covers_another_or_a_stem():
    marks = with_label_rows(
        [mark(x, "a label of this length") for x in (1, 5, 9, 40, 44, 60, 90, 96, 99)]
    )
    shown = [each for each in marks if each.label]
    assert len(shown) >= 7
    for one, other in itertools.permutations(shown, 2):
        left, right = span(other)
        if one.row == other.row:
            assert span(one)[0] >= right or left >= span(one)[1]
        elif one.row > other.row:
            assert not left <= one.x <= right


def test_a_label_without_room_on_the_right_stands_left():
    [near_end, first] = sorted(with_label_rows([mark(99), mark(0)]), key=lambda each: -each.x)
    assert (near_end.anchor, first.anchor) == ("end", "start")


def test_groups_without_room_keep_their_mark_and_leave_a_row_to_what_was_looked_up():
    many = [mark(30 + n / 2) for n in range(20)]
    found = with_label_rows([*many, mark(29, kind=LOOKED_UP)])
    assert len(found) == 21
    labelled = [each for each in found if each.label]
    assert len([each for each in labelled if each.kind == GROUP]) == ROWS_MAX - 1
    [looked_up] = [each for each in labelled if each.kind == LOOKED_UP]
    assert looked_up.row == ROWS_MAX - 1
    assert all(each.title for each in found)

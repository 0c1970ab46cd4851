"""The axes below the diagram of a log."""

from itertools import pairwise

from console.segments.log_diagram_axis_labels import offset_labels, time_labels
from console.segments.log_diagram_scale import Scale

DAY, MINUTE = 86_400_000, 60_000
START = 20_000 * DAY  # 2024-10-04


def scale(*times_ms, edges=(0.0, 50.0, 100.0), offsets=(0, 1000, 2000)):
    return Scale(edges, offsets, times_ms)


def test_offsets_stand_at_both_ends_and_at_bounds_with_room():
    labels = offset_labels(scale())
    assert [(label.x, label.text, label.anchor) for label in labels] == [
        (0, "0", "start"), (50, "1\u202f000", "middle"), (100, "2\u202f000", "end"),
    ]  # fmt: skip


def test_offsets_never_cover_each_other():
    edges = tuple(n / 5 for n in range(501))
    many = scale(edges=edges, offsets=tuple(range(10**9, 10**9 + 501)))
    labels = offset_labels(many)
    assert (labels[0].x, labels[-1].x) == (0, 100)
    assert 4 < len(labels) < 12
    assert all(after.x - before.x > 7 for before, after in pairwise(labels))


def test_a_long_log_has_days_and_a_short_one_has_times():
    long = time_labels(scale(START - DAY // 2, START + DAY // 2, START + 3 * DAY // 2))
    assert [label.text for label in long][:3] == ["3 Oct 18:00", "4 Oct 00:00", "4 Oct 06:00"]
    days = time_labels(scale(START, START + 4 * DAY, START + 9 * DAY))
    assert "8 Oct" in [label.text for label in days]
    short = time_labels(scale(START, START + MINUTE, START + 4 * MINUTE))
    assert "4 Oct 00:01" in [label.text for label in short]


def test_there_are_no_labels_without_times_and_few_of_any_span():
    assert time_labels(scale()) == []
    assert len(time_labels(scale(0, 1, 253_402_300_799_999))) < 30
    assert time_labels(scale(START + 1, START + 1, START + 1)) == []

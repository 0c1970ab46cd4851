"""The axes below the strip of a log."""

from itertools import pairwise

from console.segments.scale import Scale
from console.segments.ticks import offset_ticks, time_ticks

DAY, MINUTE = 86_400_000, 60_000
START = 20_000 * DAY  # 2024-10-04


def scale(*times_ms, edges=(0.0, 50.0, 100.0), offsets=(0, 1000, 2000)):
    return Scale(edges, offsets, times_ms)


def test_offsets_are_told_at_both_ends_and_at_bounds_with_room():
    ticks = offset_ticks(scale())
    assert [(tick.x, tick.label, tick.anchor) for tick in ticks] == [
        (0, "0", "start"), (50, "1\u202f000", "middle"), (100, "2\u202f000", "end"),
    ]  # fmt: skip


def test_offsets_never_cover_each_other():
    edges = tuple(n / 5 for n in range(501))
    many = scale(edges=edges, offsets=tuple(range(10**9, 10**9 + 501)))
    ticks = offset_ticks(many)
    assert (ticks[0].x, ticks[-1].x) == (0, 100)
    assert 4 < len(ticks) < 12
    assert all(after.x - before.x > 7 for before, after in pairwise(ticks))


def test_days_are_told_of_a_long_log_and_times_of_a_short_one():
    long = time_ticks(scale(START - DAY // 2, START + DAY // 2, START + 3 * DAY // 2))
    assert [tick.label for tick in long][:3] == ["3 Oct 18:00", "4 Oct 00:00", "4 Oct 06:00"]
    days = time_ticks(scale(START, START + 4 * DAY, START + 9 * DAY))
    assert "8 Oct" in [tick.label for tick in days]
    short = time_ticks(scale(START, START + MINUTE, START + 4 * MINUTE))
    assert "4 Oct 00:01" in [tick.label for tick in short]


def test_there_are_no_ticks_without_times_and_few_of_any_span():
    assert time_ticks(scale()) == []
    assert len(time_ticks(scale(0, 1, 253_402_300_799_999))) < 30
    assert time_ticks(scale(START + 1, START + 1, START + 1)) == []

"""Where offsets and times of a log stand, by three scales."""

import pytest

from console.segments.log_diagram_scale import OFFSET, SIZE, TIME, WIDTH_MIN, scale_of, times_of


def segment(base, end, size, first_ms, latest_ms):
    return {
        "base_offset": base, "next_offset": end, "size_bytes": size,
        "first_timestamp_ms": first_ms, "largest_timestamp_ms": latest_ms,
    }  # fmt: skip


LOG = [
    segment(0, 100, 600, 1_000, 1_900),
    segment(100, 150, 300, 2_000, 4_900),
    segment(150, 200, 100, 5_000, 9_000),
]


@pytest.mark.parametrize(
    ("kind", "edges"),
    [(SIZE, (0, 60, 90, 100)), (TIME, (0, 12.5, 50, 100)), (OFFSET, (0, 50, 75, 100))],
)
def test_segments_are_as_wide_as_their_size_time_or_offsets(kind, edges):
    assert scale_of(LOG, kind).edges == edges


def test_offsets_and_times_stand_within_their_segment():
    scale = scale_of(LOG, SIZE)
    assert [scale.at_offset(offset) for offset in (0, 50, 100, 125, 200)] == [0, 30, 60, 75, 100]
    assert [scale.at_time(at_ms) for at_ms in (1_000, 1_500, 2_000, 9_000)] == [0, 30, 60, 100]


def test_offsets_outside_stand_at_the_ends_and_times_outside_nowhere():
    scale = scale_of(LOG, SIZE)
    assert (scale.at_offset(-5), scale.at_offset(999)) == (0, 100)
    assert (scale.at_time(999), scale.at_time(9_001)) == (None, None)


def test_a_small_segment_can_be_seen():
    edges = scale_of([*LOG, segment(200, 201, 0, 9_000, 9_000)], SIZE).edges
    assert edges[-1] == 100
    assert edges[-1] - edges[-2] == pytest.approx(WIDTH_MIN, abs=0.01)
    many = scale_of([segment(n, n + 1, 0, 1, 1) for n in range(1000)], SIZE).edges
    assert (len(many), many[-1]) == (1001, 100)


def test_times_out_of_order_never_go_back():
    log = [segment(0, 1, 1, 5_000, 6_000), segment(1, 2, 1, 2_000, 3_000)]
    assert times_of(log) == (5_000, 5_000, 6_000)


def test_without_a_timestamp_there_is_no_scale_by_time():
    log = [*LOG, segment(200, 201, 10, None, None)]
    assert times_of(log) == ()
    assert scale_of(log, TIME) == scale_of(log, SIZE)
    assert scale_of(log, TIME).at_time(1_500) is None


def test_an_active_segment_without_records_begins_where_the_others_end():
    assert times_of([*LOG, segment(200, 200, 0, None, None)]) == (1_000, 2_000, 5_000, 9_000, 9_000)
    alone = scale_of([segment(7, 7, 0, None, None)], SIZE)
    assert (alone.edges, alone.at_offset(7), alone.times_ms) == ((0, 100), 0, ())

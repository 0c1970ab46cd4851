from hypothesis import given
from hypothesis import strategies as st

from monitoring.records.search_windows import WINDOW_BYTES, SearchWindows, Window

SPANS = st.dictionaries(
    st.integers(0, 5),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)).map(lambda at: range(at[0], sum(at))),
    max_size=4,
)


def taken(windows: SearchWindows, bytes_per_offset: int) -> list[Window]:
    found = []
    while (window := windows.take()) is not None:
        found.append(window)
        windows.finish(window, (window.end - window.first) * bytes_per_offset)
    return found


@given(SPANS, st.booleans(), st.integers(0, 2000))
def test_every_offset_is_read_once(spans, newest_first, bytes_per_offset):
    windows = SearchWindows(spans, newest_first)
    found = taken(windows, bytes_per_offset)
    for partition, span in spans.items():
        pieces = sorted((w.first, w.end) for w in found if w.partition == partition)
        offsets = [offset for first, end in pieces for offset in range(first, end)]
        assert offsets == list(span)
    assert windows.offsets_left == 0


def test_windows_grow_to_the_bytes_of_one_fetch():
    for newest_first in (True, False):
        windows = SearchWindows({0: range(10**6)}, newest_first)
        found = taken(windows, bytes_per_offset=100)
        widths = [each.end - each.first for each in found]
        assert widths[:3] == [256, 1024, 4096]
        assert max(widths) == WINDOW_BYTES // 100
        assert (found[0].end == 10**6) == newest_first
        assert (found[0].first == 0) == (not newest_first)


def test_partitions_take_turns_and_have_one_window_at_a_time():
    windows = SearchWindows({0: range(900), 1: range(900)}, newest_first=False)
    first, second = windows.take(), windows.take()
    assert (first.partition, second.partition) == (0, 1)
    assert windows.take() is None
    windows.finish(first, 100)
    assert windows.take() == Window(0, 256, 900)


def test_a_round_is_finished_by_the_partitions_that_had_no_turn():
    windows = SearchWindows({number: range(900) for number in range(3)}, newest_first=True)
    first = windows.take()
    windows.finish(first, 100)
    assert windows.take(finish_round=True).partition == 1
    assert windows.take(finish_round=True).partition == 2
    assert windows.take(finish_round=True) is None


def test_a_partition_that_cannot_be_read_is_left_out():
    windows = SearchWindows({0: range(9)}, newest_first=True)
    windows.drop(windows.take())
    assert (windows.take(), windows.offsets_left, windows.offsets_total) == (None, 0, 9)

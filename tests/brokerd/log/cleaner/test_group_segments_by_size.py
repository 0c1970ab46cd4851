"""Which segments are joined."""

from brokerd.integer_ranges import INT32_MAX
from brokerd.log.cleaner.group_segments_by_size import (
    GROUP_SEGMENTS_MAX,
    SegmentFiles,
    group_segments_by_size,
)


def bases(made: list[list[SegmentFiles]]) -> list[list[int]]:
    return [[each.base_offset for each in group] for group in made]


def test_neighbours_are_joined_up_to_the_size_of_a_segment_and_of_its_indexes() -> None:
    files = [SegmentFiles(n, n + 1, 40, 8, 12) for n in range(5)]
    assert bases(group_segments_by_size(files, segment_bytes=100, index_bytes=1000)) == [
        [0, 1],
        [2, 3],
        [4],
    ]
    assert bases(group_segments_by_size(files, segment_bytes=1000, index_bytes=24)) == [
        [0, 1],
        [2, 3],
        [4],
    ]
    assert bases(group_segments_by_size(files, segment_bytes=1000, index_bytes=1000)) == [
        [0, 1, 2, 3, 4]
    ]


def test_a_segment_larger_than_allowed_stays_alone() -> None:
    files = [SegmentFiles(n, n + 1, 400, 8, 12) for n in range(2)]
    assert bases(group_segments_by_size(files, segment_bytes=100, index_bytes=1000)) == [[0], [1]]


def test_offsets_of_a_joined_segment_fit_32_bits() -> None:
    near = SegmentFiles(10, INT32_MAX + 11, 1, 0, 0)
    far = SegmentFiles(10, INT32_MAX + 12, 1, 0, 0)
    first = SegmentFiles(0, 10, 1, 0, 0)
    begun = SegmentFiles(10, 11, 1, 0, 0)
    assert len(group_segments_by_size([begun, near], segment_bytes=9, index_bytes=9)) == 1
    assert len(group_segments_by_size([begun, far], segment_bytes=9, index_bytes=9)) == 2
    assert len(group_segments_by_size([first, near], segment_bytes=9, index_bytes=9)) == 2


def test_no_more_segments_are_joined_than_one_swap_can_rename() -> None:
    files = [SegmentFiles(n, n + 1, 1, 0, 0) for n in range(GROUP_SEGMENTS_MAX + 1)]
    made = group_segments_by_size(files, segment_bytes=10**6, index_bytes=10**6)
    assert [len(group) for group in made] == [GROUP_SEGMENTS_MAX, 1]

"""The marker of the written history."""

import pytest

from monitoring.history import written_range
from monitoring.history.root_folder import cluster_folder
from monitoring.history.written_range import WrittenRange

WRITTEN = WrittenRange(1000, 2000, "recorded")


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "found"),
    [(0, 1000, None), (0, 1001, WRITTEN), (1200, 1300, WRITTEN), (1999, 2500, WRITTEN),
     (2000, 2500, None)],
)  # fmt: skip
def test_a_time_with_a_part_of_the_written_history_has_its_range(root, from_ms, to_ms, found):
    assert written_range.overlapping(root, "local", from_ms, to_ms) is None
    written_range.store(root, "local", WRITTEN)
    assert written_range.overlapping(root, "local", from_ms, to_ms) == found
    assert written_range.overlapping(root, "other", from_ms, to_ms) is None


def test_a_range_that_cannot_be_read_is_an_error_where_it_is_needed_alone(root):
    root.write(b"{}", cluster_folder("local"), "_written.json")
    assert written_range.overlapping(root, "local", 0, 5000) is None
    with pytest.raises(OSError, match="cannot be read"):
        written_range.load(root, "local")

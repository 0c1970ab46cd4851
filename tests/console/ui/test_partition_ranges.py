import pytest

from console.ui.partition_ranges import InvalidRange, partition_numbers, ranges_text


def test_partitions_are_typed_as_numbers_and_ranges():
    assert partition_numbers("0-2, 8,1") == [0, 1, 2, 8]
    assert partition_numbers("3 – 5") == [3, 4, 5]
    assert partition_numbers("  ") == []
    for text in ("a", "5-2", "-1", "0-999999", "1;2"):
        with pytest.raises(InvalidRange):
            partition_numbers(text)


def test_numbers_in_a_row_are_shown_as_a_range():
    assert ranges_text([7, 0, 2, 1]) == "0–2, 7"
    assert ranges_text([]) == ""

import pytest

from console.groups.compute_reset_offsets import InvalidInput
from console.groups.offsets_file import offsets_of_file

KEY, OTHER = ("orders", 0), ("orders", 1)


def test_a_file_of_kafkas_tool_is_read():
    assert offsets_of_file('orders,0,5\n"orders",1,7\n\n', "billing") == {KEY: 5, OTHER: 7}
    several = "billing,orders,0,5\nother,orders,0,9\n"
    assert offsets_of_file(several, "billing") == {KEY: 5}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no offsets"),
        ("other,orders,0,9", "no offsets"),
        ("orders,0", "Line 1"),
        ("orders,0,1\norders,0,x", "Line 2"),
        ("orders,0,-5", "Line 1"),
        ("orders,0,99999999999999999999", "Line 1"),
        ("orders,0,1\norders,0,2", "repeats"),
    ],
)
def test_a_file_that_is_not_valid_says_where(text, why):
    with pytest.raises(InvalidInput, match=why):
        offsets_of_file(text, "billing")

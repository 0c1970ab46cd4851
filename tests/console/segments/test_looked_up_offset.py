"""The offset of a look-up: whether it is in the log."""

import pytest

from console.segments.looked_up_offset import OffsetOutside, check_offset


@pytest.mark.parametrize(
    ("offset", "start", "end"), [(9, 10, 20), (20, 10, 20), (0, 10, 10), (0, 0, 0)]
)
def test_an_offset_outside_of_the_log_is_told_with_those_that_are_in_it(offset, start, end):
    with pytest.raises(OffsetOutside) as outside:
        check_offset(offset, start, end)
    assert outside.value.valid == range(start, end)


def test_an_offset_in_the_log_is_looked_up():
    check_offset(10, 10, 20)
    check_offset(19, 10, 20)

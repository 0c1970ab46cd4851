import pytest

from monitoring.gateway.log_directory.damaged_file import DamagedFile
from monitoring.gateway.log_directory.offset_checkpoint import parse


def test_the_offsets_of_all_partitions_are_read():
    assert parse("0\n2\norders 0 1200\na.b-c 11 7\n") == {("orders", 0): 1200, ("a.b-c", 11): 7}


@pytest.mark.parametrize("text", ["", "\n", "0\n0\n"])
def test_a_file_without_lines_has_no_offsets(text):
    assert parse(text) == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1\n0\n", "version"),
        ("0\n1\norders 0\n", "a line"),
        ("0\n1\norders zero 7\n", "a line"),
        ("0\nmany\n", "a line"),
        ("0\n2\norders 0 7\n", "as many lines"),
    ],
)
def test_a_damaged_file_is_reported(text, why):
    with pytest.raises(DamagedFile, match=why):
        parse(text)

import shutil

import pyarrow.fs as pafs
import pytest

from monitoring.history.history_disk import DiskSpace, is_almost_full, is_full, space
from monitoring.history.root_folder import Root


@pytest.mark.parametrize(
    ("found", "almost_full"),
    [
        (DiskSpace(2**29, 2**40), True),
        (DiskSpace(2**31, 2**40), False),
        (DiskSpace(2**29, 2**30), False),  # half of a small disk
        (DiskSpace(0, 0), False),
        (None, False),
    ],
)
def test_a_disk_is_almost_full_when_less_than_a_gibibyte_and_three_percent_are_free(
    found, almost_full
):
    assert is_almost_full(found) == almost_full


@pytest.mark.parametrize(
    ("found", "full"),
    [
        (DiskSpace(0, 2**40), True),
        (DiskSpace(4096, 2**40), True),
        (DiskSpace(2**29, 2**40), False),
        (DiskSpace(0, 0), False),
        (None, False),
    ],
)
def test_a_disk_without_room_for_a_file_is_full(found, full):
    assert is_full(found) == full


def test_the_disk_of_a_folder_that_is_not_there_yet_is_known(tmp_path):
    found = space(Root(pafs.LocalFileSystem(), f"{tmp_path}/a/history", ""))
    assert found.total_bytes == shutil.disk_usage(tmp_path).total


def test_of_a_history_elsewhere_nothing_is_known():
    assert space(Root(pafs.SubTreeFileSystem("/", pafs.LocalFileSystem()), "b", "")) is None

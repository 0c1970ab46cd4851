"""A cleaned segment on its way."""

from pathlib import Path

import pytest

from brokerd.log import file_names
from brokerd.log.cleaner.cleaned_segment_writer import CleanedSegmentWriter


@pytest.mark.parametrize("suffix", [file_names.INDEX, file_names.TIME_INDEX, file_names.LOG])
def test_nothing_is_left_of_a_segment_whose_files_cannot_be_made(
    tmp_path: Path, suffix: str
) -> None:
    Path(file_names.cleaned_file(str(tmp_path), 5, suffix, "job")).touch()
    with pytest.raises(FileExistsError):
        CleanedSegmentWriter(str(tmp_path), 5, "job", 4096)
    assert list(tmp_path.iterdir()) == []

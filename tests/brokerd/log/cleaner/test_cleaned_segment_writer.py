"""A cleaned segment on its way."""

from pathlib import Path

import pytest

from brokerd.log import names
from brokerd.log.cleaner.cleaned_segment_writer import CleanedSegmentWriter


@pytest.mark.parametrize("suffix", [names.INDEX, names.TIME_INDEX, names.LOG])
def test_nothing_is_left_of_a_segment_whose_files_cannot_be_made(
    tmp_path: Path, suffix: str
) -> None:
    Path(names.cleaned_file(str(tmp_path), 5, suffix, "job")).touch()
    with pytest.raises(FileExistsError):
        CleanedSegmentWriter(str(tmp_path), 5, "job", 4096)
    assert list(tmp_path.iterdir()) == []

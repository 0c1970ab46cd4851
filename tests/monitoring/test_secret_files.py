"""Secrets in files, also where a process dies or two start together."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from monitoring import secret_files
from monitoring.secret_files import ensure, new_token

_TOGETHER = """
import sys, time
from pathlib import Path
from monitoring.secret_files import ensure, new_token
while time.time() < float(sys.argv[2]):
    pass
print(ensure(Path(sys.argv[1]), new_token))
"""


def test_a_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "secret"
    made = ensure(path, new_token)
    assert len(made) >= 32
    assert ensure(path, lambda: "another") == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["secret"]


@pytest.mark.parametrize("left", ["", "\n"])
def test_an_empty_file_counts_as_missing(tmp_path: Path, left: str) -> None:
    path = tmp_path / "secret"
    path.write_text(left)
    made = ensure(path, new_token)
    assert made
    assert path.read_text() == made + "\n"


def test_a_crash_while_the_secret_is_written_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: int) -> None:
        raise OSError("no space left on the device")

    path = tmp_path / "secret"
    with monkeypatch.context() as patch:
        patch.setattr(secret_files.os, "fsync", crash)
        with pytest.raises(OSError, match="no space"):
            ensure(path, new_token)
    assert os.listdir(tmp_path) == []
    assert ensure(path, new_token)


@pytest.mark.parametrize("is_there_empty", [False, True])
def test_processes_that_start_together_agree(tmp_path: Path, is_there_empty: bool) -> None:
    path = tmp_path / "secret"
    if is_there_empty:
        path.touch()
    together = str(time.time() + 1)
    command = [sys.executable, "-c", _TOGETHER, str(path), together]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = {process.communicate(timeout=30)[0].strip() for process in started}
    assert told == {path.read_text().strip()}

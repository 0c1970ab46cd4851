"""What every command takes."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import brokerd as package
from brokerd.cli.main import TOOLS, main
from tests.support.warm import ROOT


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert package.__version__ == project["version"]


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_prints_its_version_and_ends(
    tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([tool, "--version"]) == 0
    assert capsys.readouterr().out == f"{package.__version__}\n"


def test_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / f"{0:020}.log"
    data.touch()
    for line in (["topics", "--help"], ["dump-log", "--files", str(data)]):
        with open("/dev/full", "w") as full:
            monkeypatch.setattr("sys.stdout", full)
            assert main(line) == 1
        assert capsys.readouterr().err == (
            "The output cannot be written: No space left on device\n"
        )


def test_closed_streams_are_as_empty_ones(at: tuple[str, str], topic: str) -> None:
    line = shlex.join([sys.executable, "-m", "brokerd", "console-producer", *at, "--topic", topic])
    done = subprocess.run(
        f"{line} <&- >&-", shell=True, cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")

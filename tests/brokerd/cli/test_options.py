"""What every command takes."""

import tomllib

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
    with pytest.raises(SystemExit) as ended:
        main([tool, "--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"{package.__version__}\n")

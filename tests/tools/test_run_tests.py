"""The two halves that `make test` runs at the same time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import run_tests

ROOT = Path(run_tests.__file__).parent.parent


def test_every_file_of_tests_is_in_just_one_half() -> None:
    first, (everything, *ignored) = run_tests.HALVES
    assert ignored == [f"--ignore={folder}" for folder in first]
    assert everything == "tests"
    assert all((ROOT / folder).is_dir() for folder in first)


@pytest.mark.parametrize("codes", [(0, 0), (1, 0), (0, 1)])
def test_what_both_say_is_shown_and_one_that_fails_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], codes: tuple[int, int]
) -> None:
    monkeypatch.setattr(run_tests, "PYTEST", (sys.executable, "-c"))
    scripts = [[f"print({code} or 'well'); raise SystemExit({code})"] for code in codes]
    assert run_tests.run(scripts) == max(codes)
    assert capfd.readouterr().out.split() == [str(code or "well") for code in codes]


def test_with_arguments_it_is_pytest_with_these() -> None:
    command = [sys.executable, run_tests.__file__, "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"pytest {pytest.__version__}")

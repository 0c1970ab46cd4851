"""The parts that `make test` runs at the same time."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tools import run_tests

ROOT = Path(run_tests.__file__).parent.parent


def test_every_file_of_tests_is_in_just_one_part() -> None:
    found = Counter[Path]()
    for arguments in run_tests.PARTS:
        folders = [ROOT / each for each in arguments if not each.startswith("--")]
        ignored = [ROOT / each.removeprefix("--ignore=") for each in arguments[len(folders) :]]
        assert all(folder.is_dir() for folder in (*folders, *ignored))
        files = {path for folder in folders for path in folder.rglob("test_*.py")}
        found.update(path for path in files if not any(map(path.is_relative_to, ignored)))
    assert found == Counter((ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("codes", [(0, 0), (1, 0), (0, 1)])
def test_what_both_say_is_shown_and_one_that_fails_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], codes: tuple[int, int]
) -> None:
    monkeypatch.setattr(run_tests, "PYTEST", (sys.executable, "-c"))
    scripts = [[f"print({code} or 'well'); raise SystemExit({code})"] for code in codes]
    assert run_tests.run(scripts) == max(codes)
    assert capfd.readouterr().out.split() == [str(code or "well") for code in codes]


def test_ctrl_c_is_waited_out_however_often(tmp_path: Path) -> None:
    """It goes to all processes of the terminal; pytest first stops the servers it has started."""
    deaf = "import os, signal, time; signal.signal(2, signal.SIG_IGN); there = os.path.exists;"
    second = f"{deaf} open('on', 'w').close(); os.read(0, 1); print('the second')"
    first = (
        f"{deaf}\nwhile not there('on'): time.sleep(0.01)\nprint('on', flush=True); os.read(0, 1)"
    )
    program = (
        "import sys; from pathlib import Path; from tools import run_tests as r;"
        f" r.PYTEST, r.ROOT = (sys.executable, '-c'), Path({str(tmp_path)!r});"
        f" sys.exit(r.run([[{first!r}], [{second!r}]]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate("\n\n", timeout=30)
    assert process.returncode == 130
    assert out.split() == ["the", "second"]


def test_the_tests_of_ctrl_c_pass_in_a_job_in_the_background_of_a_script() -> None:
    """The shell has it ignore SIGINT; what the tests start must not."""
    this = f"{__file__}::{test_ctrl_c_is_waited_out_however_often.__name__}"
    program = """trap "" INT; exec "$@" """
    command = ["sh", "-c", program, "sh", sys.executable, "-m", "pytest", "-q", this]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_with_arguments_it_is_pytest_with_these() -> None:
    command = [sys.executable, run_tests.__file__, "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"pytest {pytest.__version__}")


FLAKY = """
from pathlib import Path
def test_that_passes_the_second_time():
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first
"""
FAILING = "def test_that_fails():\n    assert False\n"
BAD_TEARDOWN = """
import pytest
@pytest.fixture
def written():
    yield
    assert False
def test_that_passes(written): pass
"""


@pytest.mark.parametrize(
    ("module", "code"), [(FLAKY, 0), (FAILING, 1), (BAD_TEARDOWN, 1)], ids=["flaky", "bad", "end"]
)
def test_a_test_that_fails_beside_others_must_pass_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    module: str, code: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(run_tests, "PYTEST", (*run_tests.PYTEST, "-c", "/dev/null", "--rootdir=."))
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")
    (tmp_path / "test_one.py").write_text(module)
    (tmp_path / "test_two.py").write_text("def test_that_always_passes(): pass\n")
    assert run_tests.run_and_retry([["test_one.py"], ["test_two.py"]]) == code
    retried = "They run once more" in capfd.readouterr().out
    assert retried == (module is not BAD_TEARDOWN)

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import bootstrap

ROOT = Path(bootstrap.__file__).parent.parent


def test_this_machine_is_fit() -> None:
    assert bootstrap.problems() == []


def test_a_python_without_ensurepip_is_told_which_package_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    [problem] = bootstrap.problems()
    assert f"apt install python3.{sys.version_info.minor}-venv" in problem


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "PYTHON_MIN", (4, 0))
    assert "Python 4.0 or newer is needed" in bootstrap.problems()[0]


def test_a_python_without_a_redis_wheel_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bootstrap, "REDIS_WHEEL_BEFORE", (3, 0))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("REDIS_URL")
    [problem] = bootstrap.problems()
    assert "redis-server" in problem
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere:6379/0")
    assert bootstrap.problems() == []


@pytest.mark.parametrize("name", ["build", "base", "dev", "java"])
def test_every_requirement_is_pinned_with_hashes_and_names_no_index(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    entries = text.replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert "==" in entry
        assert "--hash=sha256:" in entry
    assert "://" not in text


def test_the_lock_of_the_tests_holds_all_of_the_products() -> None:
    def pins(name: str) -> set[str]:
        lines = (ROOT / "requirements" / f"{name}.lock").read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line}

    assert pins("base") <= pins("dev")


def test_another_lock_is_another_digest() -> None:
    assert bootstrap.digest("base") != bootstrap.digest("dev")


def run_until(
    text: str, command: list[str], end_s: float = bootstrap.END_S, under: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """A bootstrap that runs `command` as it runs pip, until it has printed `text`; `under` is a
    command that starts it."""
    program = (
        f"from tools import bootstrap as b; b.END_S = {end_s};"
        f" b.main = lambda: b._run_told({command}); b.run()"
    )
    process = subprocess.Popen(
        [*under, sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert any(text in line for line in process.stdout)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_install_that_is_stopped_ends_with_one_line_and_no_process_left(
    number: signal.Signals,
) -> None:
    pip = [sys.executable, "-c", "import time; print('at work', flush=True); time.sleep(600)"]
    process = run_until("at work", pip)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert said == "\naerie: stopped; the same command goes on from here\n"


def test_in_the_background_of_a_script_it_is_deaf_to_ctrl_c_and_what_it_ends_is_not() -> None:
    pip = [sys.executable, "-c",
           "import time\ntry:\n print('at work', flush=True); time.sleep(600)\n"
           "except KeyboardInterrupt: pass"]  # fmt: skip
    under = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
    process = run_until("at work", pip, end_s=600, under=under)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM


def test_a_command_that_is_deaf_to_ctrl_c_is_killed() -> None:
    deaf = [sys.executable, "-c",
            "import signal, time; signal.signal(2, signal.SIG_IGN); print('on', flush=True);"
            "time.sleep(600)"]  # fmt: skip
    process = run_until("on", deaf, end_s=0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130

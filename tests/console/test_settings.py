"""Wrong settings as somebody meets them at the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def manage(command: str, data: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("REDIS_URL", "AERIE_SECRET_KEY_FILE")
    }
    ours = {"DJANGO_SETTINGS_MODULE": "console.settings", "AERIE_DATA": str(data)}
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), command],
        env=inherited | ours | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("command", ["up", "down", "prepare", "demo", "account"])
def test_all_errors_are_reported_together_and_nothing_starts(command: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    answer = manage(
        command,
        data,
        ZOOKEEPER_HEAP="12x",
        DATABASE_URL="mysql://h/aerie",
        SPARK_MASTER="here",
        AERIE_DEMO_RATE="5000",
        AERIE_PORT="9092",
        AERIE_ADMIN_PASSWORD="secret1",
        AERIE_LOG_DIRS="prod/1=/var/lib/kafka\nprod=/srv",
    )
    assert answer.returncode == 1
    title, *lines = answer.stderr.splitlines()
    assert title == "aerie: nothing was started. Correct this first:"
    assert [line.split()[0].split("=")[0] for line in lines] == [
        "ZOOKEEPER_HEAP", "SPARK_MASTER", "AERIE_DEMO_RATE", "AERIE_ADMIN_PASSWORD",
        "AERIE_LOG_DIRS:", "Port", "DATABASE_URL",
    ]  # fmt: skip
    assert "'prod=/srv' does not name a log directory" in lines[4]
    assert "AERIE_PORT" in lines[5]
    assert "secret1" not in answer.stderr
    assert not data.exists()


def test_the_port_of_an_external_service_does_not_conflict(tmp_path: Path) -> None:
    settings = {"AERIE_PORT": "6379", "REDIS_URL": "redis://127.0.0.1:1/0"}
    assert manage("check", tmp_path, **settings).returncode == 0


def test_all_problems_of_the_machine_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = manage(
        "up",
        Path("/proc/aerie"),
        HISTORY_URL=f"file://{tmp_path}/file/history",
    )
    assert answer.returncode == 1
    assert "AERIE_DATA=/proc/aerie cannot be created or written to" in answer.stderr
    assert f"HISTORY_URL=file://{tmp_path}/file/history cannot be created" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = manage("account", tmp_path / "file")
    assert f"AERIE_DATA={tmp_path}/file is a file: name a folder" in answer.stderr


def test_prepare_reports_an_unavailable_database_in_one_line(tmp_path: Path) -> None:
    url = "postgresql://aerie:hunter2@127.0.0.1:1/aerie"
    answer = manage("prepare", tmp_path, DATABASE_URL=url)
    assert answer.returncode == 1
    [line] = answer.stderr.splitlines()
    assert line.startswith("The database failed: connection failed")
    assert "hunter2" not in line

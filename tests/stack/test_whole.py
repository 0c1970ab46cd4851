"""The whole product as `make up` starts it, in a folder and on ports of its own (without Spark)."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from stack import data_folder_lock, os_processes
from tests.support.ports import free_broker_ports, free_port

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120
READY = re.compile(r"^Aerie is ready: (http://\S+)  user admin  password (\S+)$", re.MULTILINE)


class WholeStack:
    """`manage.py up` as a process, and what it printed."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.output = folder / "output"
        self.kafka_port = free_broker_ports()
        ours = {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "AERIE_DATA": str(self.data),
            "AERIE_PORT": str(free_port()),
            "BROKERD_PORT_BASE": str(self.kafka_port),
            "ZOOKEEPER_PORT": str(free_port()),
            "REDIS_PORT": str(free_port()),
            "AERIE_TICK_SECONDS": "1",
        }
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in ("REDIS_URL", "AERIE_SECRET_KEY_FILE")
        }
        self.environment = inherited | ours
        self.process: subprocess.Popen[bytes]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(ROOT / "manage.py"), *arguments]

    def start(self) -> tuple[str, str]:
        """Start, wait until it says that it is ready; returns URL and password."""
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                self.command("up", "--without", "spark,spark-jobs,actions,deliveries,history"),
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + DEADLINE_S
        while (match := READY.search(self.text())) is None:
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.1)
        return match[1], match[2]

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )

    def stack_file(self) -> data_folder_lock.StackFile:
        stack_file = data_folder_lock.load_stack_file(self.data)
        assert stack_file is not None
        return stack_file


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeStack]:
    whole = WholeStack(tmp_path_factory.mktemp("whole"))
    try:
        yield whole
    finally:
        if whole.process.poll() is None:
            whole.process.kill()
            whole.process.wait()
        if (stack_file := data_folder_lock.load_stack_file(whole.data)) is not None:
            os_processes.end_stack(stack_file.stack_id, stack_file.leaders(), 2)


def sign_in(url: str, password: str) -> int:
    """The status of the first page after signing in."""
    with httpx.Client(base_url=url, follow_redirects=True, trust_env=False) as browser:
        browser.get("/login")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/login").text)
        assert token is not None
        form = {"csrfmiddlewaretoken": token[1], "username": "admin", "password": password}
        answer = browser.post("/login", data=form)
        assert answer.url.path != "/login", "the password was not taken"
        return answer.status_code


def open_to_others(data: Path) -> list[str]:
    """Files and folders in it that other users could read if the folder itself were open."""
    found = [str(data)] if data.stat().st_mode & 0o077 else []
    for folder, _, names in os.walk(data):
        for path in (os.path.join(folder, name) for name in names):
            with contextlib.suppress(FileNotFoundError):  # brokers and Redis drop files meanwhile
                if os.lstat(path).st_mode & 0o077:
                    found.append(path)
    return found


def test_the_whole_stack_starts_refuses_a_second_stops_and_finds_its_data(
    stack: WholeStack,
) -> None:
    url, password = stack.start()
    assert sign_in(url, password) == 200
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{stack.kafka_port}"})
    assert len(admin.list_topics(timeout=10).brokers) == 3

    assert open_to_others(stack.data) == []

    second = stack.run("up")
    assert second.returncode == 1
    assert second.stderr.startswith(f"aerie: Aerie is already running on {stack.data}")
    elsewhere = stack.run("up", AERIE_DATA=str(stack.data.parent / "elsewhere"))
    assert elsewhere.returncode == 1
    assert "needed for the console, is in use by" in elsewhere.stderr
    assert stack.run("reset").returncode == 1

    stack_file = stack.stack_file()
    stack.process.send_signal(signal.SIGINT)
    assert stack.process.wait(DEADLINE_S) == 0
    assert os_processes.stack_members(stack_file.stack_id, stack_file.leaders()) == []

    assert stack.start() == (url, password)
    assert sign_in(url, password) == 200
    assert "host.processes" in admin.list_topics(timeout=10).topics

    stack_file = stack.stack_file()
    stack.process.kill()
    stack.process.wait()
    deadline = time.monotonic() + DEADLINE_S
    while os_processes.stack_members(stack_file.stack_id, stack_file.leaders()):
        assert time.monotonic() < deadline, "the guard left processes behind"
        time.sleep(0.1)
    assert stack.run("down").returncode == 0
    assert stack.run("reset").stdout == f"Emptied {stack.data}\n"

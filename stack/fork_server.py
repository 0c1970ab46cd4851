"""`python -m stack.fork_server`: imports the console once, and forks its processes.

Forks share the memory that they do not write to: seven processes that each import the same 100 MB
take twice as much memory. Each fork has a session of its own, and is ended and restarted by itself.
Only if this process ends, the supervisor ends all forks.

Requests come from the supervisor (fork_client.py) through the socket at standard input. A request
is the command as JSON (`python -m MODULE …`) and two file descriptors: the output, and a pipe for
the answers. The first answer is the process id; the second is the exit status when the process has
ended, negative for a signal. The server opens no connection and starts no thread, since neither
would survive a fork; jemalloc, which comes with PyArrow, starts its own again.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from pathlib import Path

REQUEST_BYTES = 65_536
READY = "ready to fork"
MODULES = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.concurrency.thread",
    "console.urls",
    "pandas",  # PyArrow imports it with the first list that becomes an array
    "pyarrow.dataset",
    "uvicorn.main",
)
"""What processes import besides the tasks. Not `console.asgi`: it reads the static files, which
`manage.py prepare` may not have written yet."""


def preload() -> None:
    """Import what the processes need."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no thread of NumPy's survives a fork
    import django

    django.setup()
    for module in MODULES:
        importlib.import_module(module)
    from monitoring.celery import app

    app.loader.import_default_modules()
    app.finalize()


class ForkServer:
    """Forks on request, and reports when forks have ended."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._reports: dict[int, int] = {}  # process id → pipe
        self._woken, self._wake = os.pipe()  # a byte for each SIGCHLD
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake)

    def serve(self) -> list[str] | None:
        """Returns the command of a fork, in the fork; None in the server, when the supervisor has
        closed the socket."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is not self._requests:
                        self._report_ends()
                        continue
                    message, files, _, _ = socket.recv_fds(self._requests, REQUEST_BYTES, 2)
                    if not message:
                        return None
                    command: list[str] = json.loads(message)
                    if self._fork(*files):
                        return command

    def _fork(self, output: int, report: int) -> bool:
        """True in the fork. Without memory for a fork, the pipe is closed without an answer."""
        try:
            pid = os.fork()
        except OSError as error:
            print(f"no fork: {error}", flush=True)
            os.close(output)
            os.close(report)
            return False
        if pid == 0:
            self._set_up_fork(output, report)
            return True
        os.close(output)
        self._reports[pid] = report
        self._tell(pid, pid)
        return False

    def _set_up_fork(self, output: int, report: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        self._requests.close()
        # Only the server may hold the pipes of forks open: its end must close them.
        for file in (output, report, self._woken, self._wake, *self._reports.values()):
            os.close(file)

    def _report_ends(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, REQUEST_BYTES)
        for pid in list(self._reports):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._tell(pid, os.waitstatus_to_exitcode(status))
                os.close(self._reports.pop(pid))

    def _tell(self, pid: int, number: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # the supervisor was killed
            os.write(self._reports[pid], b"%d\n" % number)


def run(command: list[str]) -> None:
    """Run `python -m MODULE …`; `ps -o comm` and `top` show MODULE and the last argument."""
    _, _, module, *arguments = command
    with contextlib.suppress(OSError):  # Linux only, 15 characters
        Path("/proc/self/comm").write_text(" ".join([module.split(".")[-1], *arguments[:1]]))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def main() -> None:
    requests = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    preload()
    gc.collect()
    gc.freeze()  # so that a collection in a fork does not write to shared objects
    print(READY, flush=True)
    command = ForkServer(requests).serve()
    if command is not None:
        run(command)


if __name__ == "__main__":
    main()

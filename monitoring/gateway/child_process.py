"""Processes of their own for work on what clusters send: if one crashes or needs too much memory,
only this work fails.

The process runs a module with two arguments: the number of its socket, and how many bytes of memory
it may use. It ends when the socket closes. Django is not loaded here.
"""

import contextlib
import logging
import pickle
import resource
import signal
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from monitoring.error_reason import Reason
from monitoring.gateway.errors import Unreadable

_ROOT = Path(__file__).parents[2]

logger = logging.getLogger(__name__)


class ChildProcess:
    """One process and the socket to it; messages are pickled."""

    def __init__(self, module: str, memory_bytes: int) -> None:
        self._module = module
        self._is_ended = False
        self._connection, child_end = Pipe()
        with child_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(child_end.fileno()), str(memory_bytes)],
                cwd=_ROOT,
                pass_fds=(child_end.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    @property
    def id(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, message: object) -> None:
        """Raises OSError if the process has ended."""
        self._connection.send(message)

    def receive(self, limit_s: float) -> Any:
        """The next message. Raises Unreadable if the process died or sends none in time."""
        try:
            if self._connection.poll(limit_s):
                return self._connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise self.died() from error
        logger.warning("%s: no answer in %.0f s", self._module, limit_s)
        raise Unreadable(Reason("not_decoded_in_time", seconds=f"{limit_s:.0f}"))

    def died(self) -> Unreadable:
        """The error of a process that died, with the signal or exit status."""
        self._process.kill()  # no effect if it has ended
        code = self._process.wait()
        ending = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if not self._is_ended:
            logger.warning("%s: the process ended: %s", self._module, ending)
        return Unreadable(Reason("decoder_died", how=ending))

    def end(self) -> None:
        """Kill the process, and close the socket."""
        self._is_ended = True
        self._process.kill()
        self._process.wait()
        self._connection.close()


def prepare_this_process() -> None:
    """What the module of a child process calls first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the parent closes the socket
    with contextlib.suppress(OSError):  # if memory runs out, the kernel kills this process first
        Path("/proc/self/oom_score_adj").write_text("1000")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would contain users' records

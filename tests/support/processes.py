"""What tests do to processes."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.forks import Forked


def let_children_hear_ctrl_c() -> None:
    """A job in the background of a script ignores SIGINT, and so would all that it starts. With a
    handler that does nothing this process ignores it still; what it starts has the default."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


@contextmanager
def hung(process: "Forked | subprocess.Popen[Any] | None") -> Iterator[None]:
    """It stands still: the kernel takes connections for it and it answers nobody."""
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)

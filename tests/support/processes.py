"""What tests do to processes."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def hung(process: "subprocess.Popen[Any] | None") -> Iterator[None]:
    """It stands still: the kernel takes connections for it and it answers nobody."""
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)

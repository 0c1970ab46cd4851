"""Appends one JSON object a line to a log file that other programs follow.

A line goes out with a single write to a file opened for appending, so that several processes
never mix their lines. A file that would pass SIZE_BYTES_MAX is renamed to `<name>.1` (the one
before is dropped) and begun again; a follower opens the file again when its inode changed. A log
that cannot be written is said once a minute at most and never fails the request behind it.
"""

import fcntl
import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from brokerd.line_format import escape

SIZE_BYTES_MAX = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class JsonLines:
    """One such file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._complained_at = 0.0

    def append(self, fields: dict[str, Any]) -> None:
        line = escape(json.dumps(fields, ensure_ascii=False, default=str, separators=(",", ":")))
        try:
            with self._lock:
                self._write(f"{line}\n".encode())
        except OSError as error:
            if time.monotonic() - self._complained_at > 60:
                self._complained_at = time.monotonic()
                log.warning("%s cannot be written: %s", self._path.name, error.strerror)

    def _write(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Opened each time: another process may have renamed the file since.
        with self._opened() as file:
            if os.fstat(file.fileno()).st_size + len(line) <= SIZE_BYTES_MAX:
                os.write(file.fileno(), line)
                return
            self._roll(file)
        with self._opened() as file:
            os.write(file.fileno(), line)

    def _opened(self) -> BinaryIO:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        return os.fdopen(os.open(self._path, flags, 0o600), "wb", buffering=0)

    def _roll(self, full: BinaryIO) -> None:
        """Renames the full file, unless another process did: the name is a new file's then."""
        fcntl.flock(full, fcntl.LOCK_EX)  # goes with the descriptor
        if os.path.samestat(os.fstat(full.fileno()), os.stat(self._path)):
            os.replace(self._path, self._path.with_name(self._path.name + ".1"))

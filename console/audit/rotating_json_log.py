"""A log file of JSON lines (audit.jsonl, access.jsonl), which other programs can follow.

A line is written with a single write in append mode, so that lines of several processes do not mix.
If a file would exceed SIZE_BYTES_MAX, it is renamed to `<name>.1` (replacing an older one) and a
new file is created; followers detect that by the inode. If the log cannot be written, a warning is
logged at most once a minute; the request does not fail.
"""

import fcntl
import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from brokerd.logging_line_format import escape

SIZE_BYTES_MAX = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class RotatingJsonLog:
    """One log file; thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._warned_at = 0.0

    def append(self, fields: dict[str, Any]) -> None:
        line = escape(json.dumps(fields, ensure_ascii=False, default=str, separators=(",", ":")))
        try:
            with self._lock:
                self._write(f"{line}\n".encode())
        except OSError as error:
            if time.monotonic() - self._warned_at > 60:
                self._warned_at = time.monotonic()
                log.warning("%s cannot be written: %s", self._path.name, error.strerror)

    def _write(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Opened each time: another process may have renamed the file since.
        with self._open() as file:
            if os.fstat(file.fileno()).st_size + len(line) <= SIZE_BYTES_MAX:
                os.write(file.fileno(), line)
                return
            self._rotate(file)
        with self._open() as file:
            os.write(file.fileno(), line)

    def _open(self) -> BinaryIO:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        return os.fdopen(os.open(self._path, flags, 0o600), "wb", buffering=0)

    def _rotate(self, full: BinaryIO) -> None:
        """Rename the full file, unless another process has done so already."""
        fcntl.flock(full, fcntl.LOCK_EX)  # released when the file is closed
        if os.path.samestat(os.fstat(full.fileno()), os.stat(self._path)):
            os.replace(self._path, self._path.with_name(self._path.name + ".1"))

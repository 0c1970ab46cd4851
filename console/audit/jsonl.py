"""Appends one JSON object a line to a log file that other programs follow.

A line goes out with a single write to a file opened for appending, so that several processes
never mix their lines. A file that would pass SIZE_BYTES_MAX is renamed to `<name>.1` (the one
before is dropped) and begun anew; a follower opens the file again when its inode changed. A log
that cannot be written is said once a minute at most and never fails the request behind it.
"""

import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

SIZE_BYTES_MAX = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class JsonLines:
    """One such file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._complained_at = 0.0

    def append(self, fields: dict[str, Any]) -> None:
        line = json.dumps(fields, ensure_ascii=False, default=str, separators=(",", ":")) + "\n"
        try:
            with self._lock:
                self._write(line.encode())
        except OSError as error:
            if time.monotonic() - self._complained_at > 60:
                self._complained_at = time.monotonic()
                log.warning("%s cannot be written: %s", self._path.name, error.strerror)

    def _write(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        # Opened each time: another process may have renamed the file since.
        descriptor = os.open(self._path, flags, 0o640)
        try:
            if os.fstat(descriptor).st_size + len(line) > SIZE_BYTES_MAX:
                os.replace(self._path, self._path.with_name(self._path.name + ".1"))
                os.close(descriptor)
                descriptor = os.open(self._path, flags, 0o640)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

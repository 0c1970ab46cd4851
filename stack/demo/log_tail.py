"""Reads new lines of a JSON log that another process appends to, as `tail -F` does.

The position file keeps the inode and the byte position after the last line that was delivered to
Kafka. So no line is lost when a broker or this process restarts; lines may be sent twice. A log
that was renamed to `<name>.1` is read to its end before the new file.
"""

import json
import os
from pathlib import Path

from stack.demo.records import OutgoingRecord, log_line

LINE_BYTES_MAX = 65_536
_READ_BYTES = 262_144


class LogTail:
    """A source of records: the lines of one log file."""

    def __init__(self, path: Path, position_file: Path, topic: str, key_field: str) -> None:
        self._path = path
        self._position_file = position_file
        self._topic = topic
        self._key_field = key_field
        self._inode, self._position_bytes = self._load()
        self._taken_until_bytes: int | None = None

    @property
    def is_delivering(self) -> bool:
        """True while the delivery of the lines taken last is not finished."""
        return self._taken_until_bytes is not None

    def take(self, limit: int) -> list[OutgoingRecord]:
        """Up to `limit` new lines; none while the previous delivery is not finished."""
        if self.is_delivering or limit <= 0:
            return []
        lines, taken_until_bytes = self._read(limit)
        if taken_until_bytes == self._position_bytes:
            return []
        self._taken_until_bytes = taken_until_bytes
        if not lines:  # only blank or oversized ones
            self.finish_delivery(True)
        return [log_line(self._topic, self._key_field, line) for line in lines]

    def finish_delivery(self, is_delivered: bool) -> None:
        """Advance the position if the lines taken last were delivered; else they are sent again."""
        assert self._taken_until_bytes is not None, "nothing was taken"
        if is_delivered:
            self._position_bytes = self._taken_until_bytes
            self._save()
        self._taken_until_bytes = None

    def _read(self, limit: int) -> tuple[list[bytes], int]:
        """Complete lines from the position on, and the position after the last of them."""
        path = self._current_path()
        if path is None:
            return [], self._position_bytes
        with path.open("rb") as file:
            file.seek(self._position_bytes)
            data = file.read(_READ_BYTES)
        lines: list[bytes] = []
        position_bytes = self._position_bytes
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n") or len(lines) == limit:
                break
            position_bytes += len(line)
            if line.strip() and len(line) <= LINE_BYTES_MAX:
                lines.append(line.strip())
        if position_bytes == self._position_bytes and len(data) == _READ_BYTES:
            position_bytes += len(data)  # longer than a read: skip it piece by piece
        return lines, position_bytes

    def _current_path(self) -> Path | None:
        """The file to read: the renamed one until it is read to its end, then the log."""
        current = _status(self._path)
        if current is not None and current.st_ino == self._inode:
            if current.st_size < self._position_bytes:
                self._position_bytes = 0  # truncated
            return self._path
        rolled = self._path.with_name(self._path.name + ".1")
        status = _status(rolled)
        is_same_file = status is not None and status.st_ino == self._inode
        if status is not None and is_same_file and status.st_size > self._position_bytes:
            return rolled
        if current is None:
            return None
        self._inode, self._position_bytes = current.st_ino, 0
        return self._path

    def _load(self) -> tuple[int, int]:
        try:
            position = json.loads(self._position_file.read_text())
            return int(position["inode"]), int(position["position_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    def _save(self) -> None:
        self._position_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._position_file.with_suffix(".new")
        position = {"inode": self._inode, "position_bytes": self._position_bytes}
        temporary.write_text(json.dumps(position))
        os.replace(temporary, self._position_file)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None

"""Follows a JSON log that another process appends to, and never loses its place.

The place (inode and byte position) is that of the last line a broker has acknowledged, and is kept
in a file, so that neither a broker's restart nor our own skips a line; lines may be sent twice.
A log that was renamed to `<name>.1` is read to its end before its successor is begun.
"""

import json
import os
from pathlib import Path

from stack.demo.shapes import Outgoing, journal_line

LINE_BYTES_MAX = 65_536
_READ_BYTES = 262_144


class Journal:
    """One log file as a source of records."""

    def __init__(self, path: Path, place_file: Path, topic: str, key_field: str) -> None:
        self._path = path
        self._place_file = place_file
        self._topic = topic
        self._key_field = key_field
        self._inode, self._position_bytes = self._load()
        self._taken_to_bytes: int | None = None

    @property
    def is_waiting(self) -> bool:
        """True while lines that were taken have not been settled."""
        return self._taken_to_bytes is not None

    def take(self, limit: int) -> list[Outgoing]:
        """Up to `limit` further lines; none while those before are unsettled."""
        if self.is_waiting or limit <= 0:
            return []
        lines, taken_to_bytes = self._read(limit)
        if taken_to_bytes == self._position_bytes:
            return []
        self._taken_to_bytes = taken_to_bytes
        if not lines:  # only blank or oversized ones
            self.settle(True)
        return [journal_line(self._topic, self._key_field, line) for line in lines]

    def settle(self, is_delivered: bool) -> None:
        """The lines taken last are with the brokers; or they are not, and will be taken again."""
        assert self._taken_to_bytes is not None, "nothing was taken"
        if is_delivered:
            self._position_bytes = self._taken_to_bytes
            self._save()
        self._taken_to_bytes = None

    def _read(self, limit: int) -> tuple[list[bytes], int]:
        """Whole lines from the place on, and the position after the last of them."""
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
            position_bytes += len(data)  # a line without end: skip it piece by piece
        return lines, position_bytes

    def _current_path(self) -> Path | None:
        """The file that the place is in: the log, or the one it was renamed to."""
        current = _status(self._path)
        if current is not None and current.st_ino == self._inode:
            if current.st_size < self._position_bytes:
                self._position_bytes = 0  # emptied in place
            return self._path
        rolled = self._path.with_name(self._path.name + ".1")
        status = _status(rolled)
        is_ours = status is not None and status.st_ino == self._inode
        if status is not None and is_ours and status.st_size > self._position_bytes:
            return rolled
        if current is None:
            return None
        self._inode, self._position_bytes = current.st_ino, 0
        return self._path

    def _load(self) -> tuple[int, int]:
        try:
            place = json.loads(self._place_file.read_text())
            return int(place["inode"]), int(place["position_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    def _save(self) -> None:
        self._place_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._place_file.with_suffix(".new")
        place = {"inode": self._inode, "position_bytes": self._position_bytes}
        temporary.write_text(json.dumps(place))
        os.replace(temporary, self._place_file)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None

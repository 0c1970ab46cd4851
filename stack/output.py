"""Writes the output of the processes to the terminal, with names and colours, and to `data/logs`.

Reading a process's output must never wait for a terminal that is paused (Ctrl-S), or the process
would block at its next line. So a thread writes to the terminal from a bounded queue; lines that do
not fit are counted and dropped. Log files roll to `.1` at 16 MiB. Control characters are escaped,
since log lines can contain text from clients.
"""

import os
import queue
import select
import sys
import threading
from pathlib import Path
from typing import IO

from brokerd.logging_line_format import escape

LINE_BYTES_MAX = 8_192
TAB_WIDTH = 4
QUEUE_LINES_MAX = 10_000
LOG_BYTES_MAX = 16 * 1024 * 1024
_COLOURS = (36, 32, 33, 35, 34, 96, 92, 93, 95, 94)


class LineSplitter:
    """Splits a stream of bytes into lines. A line that is too long is truncated.

    Pure.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._is_truncated = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes, and the beginning of a line that is too long."""
        if self._is_truncated:
            _, newline, data = data.partition(b"\n")
            self._is_truncated = not newline
        *lines, rest = (self._rest + data).split(b"\n")
        if len(rest) > LINE_BYTES_MAX:
            lines.append(rest)
            rest, self._is_truncated = b"", True
        self._rest = rest
        return [self._text(line) for line in lines]

    def end(self) -> list[str]:
        """The last line, if it has no newline."""
        rest, self._rest = self._rest, b""
        return [self._text(rest)] if rest else []

    @staticmethod
    def _text(line: bytes) -> str:
        text = line[:LINE_BYTES_MAX].decode(errors="replace").rstrip("\r")
        return text.expandtabs(TAB_WIDTH)


class Terminal:
    """Standard output, with the name of the process before each line."""

    def __init__(self, names: list[str], stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout
        self._width = max(map(len, names), default=0)
        self._colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(names)}
        self._is_terminal = self._stream.isatty()
        self._is_coloured = (
            self._is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        )
        self._lines: queue.Queue[str | None] = queue.Queue(QUEUE_LINES_MAX)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="terminal", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether standard output was a terminal and has been closed.

        The kernel sends SIGHUP to the session's leader only, which may be `make`.
        """
        if not self._is_terminal:
            return False
        poll = select.poll()
        poll.register(self._stream.fileno(), 0)
        return bool(poll.poll(0))

    def line(self, name: str, text: str) -> None:
        """Write a line of a process; `aerie` is the supervisor itself."""
        label = f"{name:<{self._width}} |"
        if self._is_coloured:
            label = f"\033[{self._colours.get(name, 1)}m{label}\033[0m"
        self.plain(f"{label} {escape(text)}")

    def plain(self, text: str) -> None:
        """Write a line without a name."""
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1

    def close(self, timeout_s: float = 1.0) -> None:
        """Write the queued lines; wait at most `timeout_s`, since the terminal may be paused."""
        try:
            self._lines.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(timeout_s)

    def _write(self) -> None:
        while (text := self._lines.get()) is not None:
            if self._dropped:
                text, self._dropped = f"({self._dropped} lines not shown)\n{text}", 0
            try:
                self._stream.write(text + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                pass  # the terminal is closed; log files still get every line


class LogFile:
    """One process's log, rolled by size."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._size_bytes = path.stat().st_size

    def write(self, text: str) -> None:
        """Append one line. Errors are ignored: a full disk must not stop the stack."""
        data = escape(text).encode() + b"\n"
        try:
            if self._size_bytes > LOG_BYTES_MAX:
                self._roll()
            self._file.write(data)
            self._size_bytes += len(data)
        except OSError:
            return

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _roll(self) -> None:
        self._file.close()
        os.replace(self._path, self._path.with_suffix(".log.1"))
        self._file = self._path.open("ab", buffering=0)
        self._size_bytes = 0

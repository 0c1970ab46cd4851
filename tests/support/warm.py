"""A process that does one command after the other, for tools that take longest to start.

A command is one line to its standard input, words in base64 parted by spaces; its answer one line:
the exit code, standard output and standard error, the latter two in base64. It ends when its
standard input does, so with the run of the tests.
"""

import base64
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
_TIMEOUT_S = 120


class Said:
    """What a tool said and how it ended."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode(), err.decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def ok(self) -> "Said":
        """Itself, where the tool ended well and complained of nothing."""
        assert self.code == 0, self.out + self.err
        assert not self.err, self.err
        return self


class NeverAnswered(Exception):
    """The process cannot be used at all; says what it said."""


class WarmProcess:
    """Started by the first command, and again after one that did not end."""

    def __init__(self, *command: str | Path) -> None:
        self._command = command
        self._answered = False
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (as long as this lives)

    def ask(self, *words: bytes) -> Said:
        """Do one command. Raises NeverAnswered where not even the first one gets an answer."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                cwd=ROOT,
            )  # fmt: skip
        answer = self._answer(self._process, b" ".join(map(base64.b64encode, words)) + b"\n")
        if not answer:
            raise self._failure(words)
        self._answered = True
        code, out, err = answer.rstrip(b"\n").split(b" ")
        return Said(int(code), base64.b64decode(out), base64.b64decode(err))

    def _answer(self, process: "subprocess.Popen[bytes]", line: bytes) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(_TIMEOUT_S, process.kill)
        late.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            return process.stdout.readline()
        except BrokenPipeError:
            return b""
        finally:
            late.cancel()

    def _failure(self, words: tuple[bytes, ...]) -> Exception:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")[-2000:]
        if self._answered:
            return AssertionError(f"no answer within {_TIMEOUT_S} s to {words!r}: {said}")
        return NeverAnswered(said)

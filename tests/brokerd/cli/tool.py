"""Runs `brokerd COMMAND` as a process, and Apache Kafka's tool beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KAFKA = ROOT / "bench" / "kafka.sh"
NOT_THERE = 3
TIMEOUT_S = 120


class Said:
    """What a process said and how it ended."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def ok(self) -> "Said":
        """Itself, where the process ended well and complained of nothing."""
        assert self.code == 0, self.out + self.err
        assert not self.err, self.err
        return self


def brokerd(*arguments: str | Path, stdin: bytes = b"") -> Said:
    """`brokerd` with these arguments."""
    return _run([sys.executable, "-m", "brokerd"], arguments, stdin)


def kafka(*arguments: str | Path, stdin: bytes = b"") -> Said:
    """Apache Kafka's tool of that name; the test is skipped where there is no Kafka."""
    said = _run([str(KAFKA)], arguments, stdin)
    if said.code == NOT_THERE:
        pytest.skip(f"Apache Kafka is not here: {said.err.strip()}")
    return said


def _run(command: list[str], arguments: tuple[str | Path, ...], stdin: bytes) -> Said:
    line = [*command, *(str(each) for each in arguments)]
    done = subprocess.run(line, input=stdin, capture_output=True, timeout=TIMEOUT_S, cwd=ROOT)
    said = Said(done)
    assert "Traceback" not in said.err, said.err
    return said

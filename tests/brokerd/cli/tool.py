"""Runs `brokerd COMMAND` as a process, and Apache Kafka's tool beside it."""

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
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
    _fetch_kafka()
    said = _run([str(KAFKA)], arguments, stdin)
    if said.code == NOT_THERE:
        pytest.skip(f"Apache Kafka is not here: {said.err.strip()}")
    return said


@cache
def _fetch_kafka() -> None:
    """Once, so that no tool says on standard error that it is being fetched."""
    subprocess.run([KAFKA, "fetch"], capture_output=True, check=False)


def _run(command: list[str], arguments: tuple[str | Path, ...], stdin: bytes) -> Said:
    line = [*command, *(str(each) for each in arguments)]
    done = subprocess.run(line, input=stdin, capture_output=True, timeout=TIMEOUT_S, cwd=ROOT)
    said = Said(done)
    assert "Traceback" not in said.err, said.err
    return said


def differences(
    command: str, at: tuple[str, str], lines: Iterable[tuple[str, ...]], *, words: bool = False
) -> dict[str, tuple[object, object]]:
    """By line: what `brokerd` says and what Apache Kafka's tool says, where that is not the same.

    Kafka's tools take topics, partitions and members out of hash maps, so lines are sorted (or with
    `words` all words: some tables of 3.9 lack the ends of their lines). Java's names and stacks of
    exceptions are passed over, and where it has written down an Option instead of what is in it.
    """
    found: dict[str, tuple[object, object]] = {}
    for arguments in lines:
        ours, theirs = brokerd(command, *at, *arguments), kafka(command, *at, *arguments)
        told = [
            (sorted(_plain(said.out, words)), said.code, sorted(_plain(said.err, words)))
            for said in (ours, theirs)
        ]
        if told[0] != told[1]:
            found[" ".join(arguments)] = (told[0], told[1])
            print(arguments, *told, sep="\n")
    return found


def _plain(text: str, words: bool) -> list[str]:
    text = re.sub(r"(?m)^(\tat |Caused by: |\t\.\.\. |\S*Exception\b).*\n?", "", text)
    text = re.sub(r"(?m)^[-0-9]{10} [0-9:,]{12} (WARN .*) \([\w.]+\)$", r"\1", text)
    text = re.sub(r"(?m)^[-0-9]{10} [0-9:,]{12} ERROR .*\n?", "", text)
    text = re.sub(r"(?m)^ \([\w.]+\)\n?", "", text)
    text = re.sub(r"Optional\[(\w+)\]", r"\1", text)
    text = re.sub(r"(?:\b(?:java|org)\.[\w.]+Exception: )+", "", text)
    return text.split() if words else text.splitlines()

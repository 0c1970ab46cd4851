"""Apache Kafka's command line tools, all in one Java machine that stays warm for the whole run.

    kafka("dump-log", "--files", path).ok().lines

A start of Java costs seconds, a call in a warm one a fraction of one. `KafkaTools.java` runs the
tools' main methods one by one. It is compiled as it starts, which takes a JDK; with a mere JRE
every call starts a Java machine of its own, by bench/kafka.sh.
"""

import subprocess
import warnings
from functools import cache
from pathlib import Path

import pytest

from tests.support.warm import ROOT, NeverAnswered, Said, WarmProcess

KAFKA = ROOT / "bench" / "kafka.sh"
_NOT_THERE = 3  # kafka.sh: neither KAFKA_HOME nor Maven
_FETCH_S = 600
_TIMEOUT_S = 120
_warm: WarmProcess | None = WarmProcess(KAFKA, "run", Path(__file__).parent / "KafkaTools.java")


def kafka(verb: str, *arguments: str | Path, stdin: bytes = b"") -> Said:
    """The tool that bench/kafka.sh knows by this verb; skips the test where there is no Kafka."""
    global _warm
    fetch_kafka()
    line = [str(each) for each in arguments]
    if _warm is not None:
        name, *rest = line if verb == "run" else [_main_class(verb), *line]
        try:
            return _warm.ask(name.encode(), stdin, *(each.encode() for each in rest))
        except NeverAnswered as why:
            warnings.warn(f"each of Kafka's tools starts a Java of its own: {why}", stacklevel=2)
            _warm = None
    done = subprocess.run(
        [KAFKA, verb, *line], input=stdin, capture_output=True, timeout=_TIMEOUT_S
    )
    return Said(done.returncode, done.stdout, done.stderr)


def kafka_is_here() -> bool:
    return _fetched().returncode != _NOT_THERE


def fetch_kafka() -> None:
    """Have Kafka's jars here; skips the test where they cannot be had."""
    done = _fetched()
    if done.returncode == _NOT_THERE:
        pytest.skip(f"Apache Kafka is not here: {done.stderr.decode().strip()}")
    done.check_returncode()


@cache
def _fetched() -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([KAFKA, "fetch"], capture_output=True, timeout=_FETCH_S)


@cache
def _main_class(verb: str) -> str:
    done = subprocess.run([KAFKA, "class", verb], capture_output=True, text=True, check=True)
    return done.stdout.strip()

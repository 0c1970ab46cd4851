"""What console-producer reads, and how it ends."""

import fcntl
import io
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from brokerd.cli.console_producer import read_lines
from tests.brokerd.cli.tool import At, consume, produce
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.waiting import wait_until
from tests.support.warm import ROOT

TOO_LONG = None


def test_a_line_that_no_record_can_hold_is_left_out_and_not_kept(at: At, made: str) -> None:
    said = produce(at, made, "one\n" + "x" * 3_000_000 + "\ntwo\n")
    assert said.code == 1
    assert said.err == "ERROR Line 2 is longer than 2097152 characters and is left out\n"
    read = consume(at, made, "--from-beginning", "--max-messages", "2")
    assert sorted(read.lines) == ["one", "two"]


def test_a_short_input_without_keys_stays_together(at: At, made: str) -> None:
    """As Kafka's; what is more than a batch, or has keys, may go to all partitions."""
    counts = [0, 0]
    for _ in range(4):
        before = counts
        produce(at, made, "1\n2\n3\n4\n").ok()
        ends = brokerd("get-offsets", *at, "--topic", made).ok().lines
        counts = [int(each.split(":")[2]) for each in ends]
        assert sorted(now - was for now, was in zip(counts, before, strict=True)) == [0, 4]
    produce(at, made, "".join(f"{n}:x\n" for n in range(9)), "--property", "parse.key=true",
            "--property", "key.separator=:").ok()  # fmt: skip
    ends = brokerd("get-offsets", *at, "--topic", made).ok().lines
    assert all(int(each.split(":")[2]) > was for each, was in zip(ends, counts, strict=True))


def read(data: bytes) -> list[str | None]:
    with io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape") as given:
        return list(read_lines(given, 4))


def test_lines_are_bounded_and_come_without_their_ends() -> None:
    data = b"1234\r\n12345\n\n123456789\n1\xff\n12345678"
    assert read(data) == ["1234", TOO_LONG, "", TOO_LONG, "1\udcff", TOO_LONG]


def test_a_line_ends_at_a_cr_a_lf_or_both_as_for_java() -> None:
    wanted = ["a", "b", "c", "", "d", "", "", TOO_LONG, "e"]
    assert read(b"a\rb\r\nc\n\rd\r\r\n\n12345\re") == wanted


@pytest.mark.kafka
def test_the_lines_are_those_of_kafkas_producer(at: At, topic: str) -> None:
    for tool, name in ((brokerd, topic), (kafka, f"{topic}-kafka")):
        brokerd("topics", *at, "--create", "--topic", name, "--partitions", "1").ok()
        given = "a\rb\r\nc\n\rd\r\r\n\ne\xe4".encode()
        tool("console-producer", *at, "--topic", name, stdin=given)
    ours, theirs = (
        consume(at, name, "--from-beginning", "--max-messages", "8").out
        for name in (topic, f"{topic}-kafka")
    )
    assert ours == theirs == "a\nb\nc\n\nd\n\n\neä\n"


def is_empty(pipe: IO[str]) -> bool:
    return fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4)


def waits_for_input(process: "subprocess.Popen[bytes]") -> bool:
    """Whether it reads from its standard input: then it has handled all that it read before."""
    try:
        call = Path(f"/proc/{process.pid}/syscall").read_text().split()
    except OSError:  # it has ended
        return True
    return call[1:2] == ["0x0"]  # the file descriptor


@contextmanager
def producing(
    at: At, topic: str, text: bytes, *options: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A console-producer that has read the text and waits for more."""
    command = [sys.executable, "-m", "brokerd", "console-producer", *at, "--topic", topic, *options]
    ours, theirs = os.pipe()
    with os.fdopen(ours) as given, os.fdopen(theirs, "wb", 0) as pipe:
        pipe.write(text)
        process = subprocess.Popen(command, stdin=given, stderr=subprocess.PIPE, cwd=ROOT)
        wait_until(lambda: is_empty(given) and waits_for_input(process), "it reads")
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def test_what_was_read_before_a_signal_is_sent(at: At, made: str) -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for number in numbers:
        text = b"%s\n%s\nhalf" % (number.name.encode(), number.name.encode())
        with producing(at, made, text, "--timeout", "60000") as process:
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 128 + number
        assert said == b""
    read = consume(at, made, "--from-beginning", "--max-messages", "6")
    assert sorted(read.lines) == sorted(2 * [number.name for number in numbers])


def test_a_signal_ends_it_where_no_broker_is_there() -> None:
    nobody = ("--bootstrap-server", "127.0.0.1:1")
    with producing(nobody, "t", b"x\n", "--max-block-ms", "1000", "--timeout", "0") as process:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert b"ERROR Error when sending message to topic t with key: null, value: 1 bytes" in said
    with producing(nobody, "t", b"x\n", "--max-block-ms", "600000") as process:
        wait_until(
            lambda: process.send_signal(signal.SIGTERM) or process.poll() is not None, "its end"
        )
    assert process.returncode == -signal.SIGTERM

"""Commands of brokerd, and one of them beside Apache Kafka's tool, line by line."""

import re
from collections.abc import Iterable

from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.warm import Said

At = tuple[str, str]


def produce(at: At, topic: str, text: str, *options: str) -> Said:
    return brokerd("console-producer", *at, "--topic", topic, *options, stdin=text.encode())


def consume(at: At, topic: str, *options: str) -> Said:
    return brokerd("console-consumer", *at, "--topic", topic, *options)


def differences(
    command: str, at: tuple[str, str], lines: Iterable[tuple[str, ...]], *, words: bool = False
) -> dict[str, tuple[object, object]]:
    """By line: what `brokerd` says and what Apache Kafka's tool says, where that is not the same.

    Kafka's tools take topics, partitions and settings out of hash maps, so lines are sorted (or
    with `words` all words: some tables of 3.9 lack the ends of their lines). Java's names and
    stacks of exceptions are passed over, and where it has written down an Option instead of what is
    in it.
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
    return re.findall(r"[^\s,]+", text) if words else text.splitlines()

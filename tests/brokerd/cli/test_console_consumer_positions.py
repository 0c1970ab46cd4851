"""What a group of console-consumer has committed of partitions that it read nothing from."""

import json
from pathlib import Path

import pytest

from tests.brokerd.cli.tool import At, produce
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka

Rows = list[tuple[str, str]]
IDLE = ("--timeout-ms", "3000")
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
KEYED = ("--property", "parse.key=true", "--property", "key.separator=:")


def committed(at: At, group: str) -> Rows:
    """Partition and offset of each row of --describe."""
    said = brokerd("consumer-groups", *at, "--describe", "--group", group)
    rows = [line.split() for line in said.lines[2:]]
    return [(row[2], row[3]) for row in rows]


@pytest.mark.parametrize(
    ("of", "how"),
    [
        ("--topic", ()),
        ("--include", ("--consumer-property", f"partition.assignment.strategy={COOPERATIVE}")),
        ("--topic", ("--isolation-level", "read_committed")),
    ],
)
def test_what_comes_after_a_group_found_nothing_is_read_by_it_later(
    at: At, made: str, group: str, of: str, how: tuple[str, ...]
) -> None:
    member = ("console-consumer", *at, of, made, "--group", group, *how)
    assert "Processed a total of 0 messages" in brokerd(*member, *IDLE).err
    assert committed(at, group) == [("0", "0"), ("1", "0")]
    lines = [str(number) for number in range(10)]
    produce(at, made, "".join(f"{line}:{line}\n" for line in lines), *KEYED).ok()
    said = brokerd(*member, "--max-messages", "10", *IDLE)
    assert sorted(said.lines) == lines


def test_a_group_that_commits_by_hand_has_nothing_committed(at: At, made: str, group: str) -> None:
    by_hand = ("--consumer-property", "enable.auto.commit=false")
    brokerd("console-consumer", *at, "--topic", made, "--group", group, *by_hand, *IDLE)
    assert committed(at, group) == []


@pytest.mark.kafka
def test_positions_are_committed_as_by_kafkas(
    at: At, made: str, group: str, tmp_path: Path
) -> None:
    """One partition has three records, of which two are deleted later, and the other has none."""
    produce(at, made, "k:1\nk:2\nk:3\n", *KEYED).ok()
    (filled,) = [
        line.split(":")[1]
        for line in brokerd("get-offsets", *at, "--topic", made).ok().lines
        if line.endswith(":3")
    ]
    deleted = tmp_path / "offsets.json"
    entry = {"topic": made, "partition": int(filled), "offset": 2}
    deleted.write_text(json.dumps({"partitions": [entry], "version": 1}))
    found: list[list[Rows]] = [[], []]
    for options in (
        ("--from-beginning", "--max-messages", "1"),
        ("--max-messages", "0"),
        IDLE,
    ):
        for number, tool in enumerate((brokerd, kafka)):
            name = f"{group}-{number}"
            if options == IDLE:
                brokerd("consumer-groups", *at, "--reset-offsets", "--group", name, "--topic",
                        made, "--to-earliest", "--execute").ok()  # fmt: skip
                brokerd("delete-records", *at, "--offset-json-file", deleted).ok()
            tool("console-consumer", *at, "--topic", made, "--group", name, *options)
            found[number].append(committed(at, name))
    assert found[0] == found[1]
    assert dict(found[0][0]) == {"0": "0", "1": "0"} | {filled: "1"}
    assert dict(found[0][-1])[filled] == "3"

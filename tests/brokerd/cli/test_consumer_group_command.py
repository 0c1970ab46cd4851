"""consumer-groups on a real broker, and beside Apache Kafka's own tool."""

import time
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import pytest
from confluent_kafka import Producer

from brokerd.cli.consumer_group_command import ACTIONS
from brokerd.topic_partition import TopicPartition
from tests.brokerd.cli.tool import differences
from tests.support.brokerd import Brokerd
from tests.support.brokerd_tools import brokerd
from tests.support.group_members import ConfluentMember
from tests.support.kafka_tools import kafka
from tests.support.warm import Said

At = tuple[str, str]
OTHER = "a-topic"
FIRST_MS = 1_700_000_000_000
PER_PARTITION = 10


@pytest.fixture
def filled(at: At, topic: str) -> str:
    """A topic of two partitions with ten records each, a second apart, which stay though old."""
    kept = ("--partitions", "2", "--config", "retention.ms=-1")
    brokerd("topics", *at, "--create", "--topic", topic, *kept).ok()
    producer = Producer({"bootstrap.servers": at[1]})
    for number in range(2 * PER_PARTITION):
        producer.produce(
            topic, str(number), partition=number % 2, timestamp=FIRST_MS + number // 2 * 1000
        )
    assert producer.flush(30) == 0
    return topic


@pytest.fixture
def left(at: At, filled: str, group: str) -> str:
    """A group without members that stands at offset 4 of both partitions of `filled`."""
    reset(at, group, "--topic", filled, "--to-offset", "4", "--execute").ok()
    return group


@pytest.fixture
def live(at: At, filled: str, group: str) -> Iterator[str]:
    """A group with one member that has committed the end of both partitions."""
    reset(at, group, "--topic", filled, "--to-latest", "--execute").ok()
    with ConfluentMember(at[1], group, filled, **{"client.id": "reader"}) as member:
        member.owns(2)
        yield group


def reset(at: At, group: str, *options: str | Path) -> Said:
    return brokerd("consumer-groups", *at, "--reset-offsets", "--group", group, *options)


def offsets(said: Said) -> dict[TopicPartition, int]:
    """What a table of --reset-offsets says."""
    rows = [line.split() for line in said.lines if line]
    assert rows.pop(0) == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
    return {(topic, int(partition)): int(offset) for _, topic, partition, offset in rows}


def standing(at: At, group: str) -> dict[str, tuple[str, ...]]:
    """Offset, end and lag by partition, as --describe tells them."""
    said = brokerd("consumer-groups", *at, "--describe", "--group", group)
    assert said.code == 0
    rows = [line.split() for line in said.lines[2:]]
    return {row[2]: tuple(row[3:6]) for row in rows}


def test_a_live_group_is_described_in_three_ways(at: At, live: str) -> None:
    describe = ("consumer-groups", *at, "--describe", "--group", live)
    blank, head, *rows = brokerd(*describe).ok().lines
    assert blank == ""
    assert head.split()[:6] == [
        "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
    ]  # fmt: skip
    assert [row.split()[2:6] for row in rows] == [["0", "10", "10", "0"], ["1", "10", "10", "0"]]
    assert all(row.split()[8] == "reader" for row in rows)
    _, head, row = brokerd(*describe, "--members", "--verbose").ok().lines
    assert head.split() == [
        "GROUP",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
        "ASSIGNMENT",
    ]
    assert row.split()[-2] == "2"
    assert row.endswith("(0,1)")
    _, head, row = brokerd(*describe, "--state").ok().lines
    assert row.split() == [live, at[1], "(1)", "range", "Stable", "1"]


def test_groups_are_listed_with_their_states(at: At, left: str) -> None:
    assert left in brokerd("consumer-groups", *at, "--list").ok().lines
    said = brokerd("consumer-groups", *at, "--list", "--state", "empty").ok()
    assert [left, "Empty"] in [line.split() for line in said.lines]
    said = brokerd("consumer-groups", *at, "--list", "--state", "stable").ok()
    assert left not in said.out


def test_a_group_without_members_says_so_and_shows_its_lag(at: At, left: str) -> None:
    said = brokerd("consumer-groups", *at, "--describe", "--group", left)
    assert said.code == 0
    assert said.err.strip() == f"Consumer group '{left}' has no active members."
    assert standing(at, left) == {"0": ("4", "10", "6"), "1": ("4", "10", "6")}


def test_a_group_that_is_missing_is_an_error_line(at: At) -> None:
    said = brokerd("consumer-groups", *at, "--describe", "--group", "nobody").ok()
    assert said.lines == ["", "Error: Consumer group 'nobody' does not exist."]


@pytest.mark.parametrize(
    ("scenario", "wanted"),
    [
        (("--to-earliest",), 0),
        (("--to-latest",), 10),
        (("--to-current",), 4),
        (("--to-offset", "7"), 7),
        (("--shift-by", "3"), 7),
        (("--shift-by", "-2"), 2),
        (("--to-datetime", "2023-11-14T22:13:26.000"), 6),
        (("--to-datetime", "2023-11-15T00:13:26.000+02:00"), 6),
        (("--by-duration", "P20000D"), 0),
    ],
)
def test_every_way_to_reset(
    at: At, left: str, filled: str, scenario: tuple[str, ...], wanted: int
) -> None:
    said = reset(at, left, "--topic", f"{filled}:0", *scenario, "--dry-run").ok()
    assert offsets(said) == {(filled, 0): wanted}
    assert standing(at, left)["0"][0] == "4"
    said = reset(at, left, "--all-topics", *scenario, "--execute").ok()
    assert offsets(said) == {(filled, 0): wanted, (filled, 1): wanted}
    assert standing(at, left)["1"][0] == str(wanted)


def test_offsets_out_of_the_log_are_moved_into_it(at: At, left: str, filled: str) -> None:
    for scenario, wanted in (("99", 10), ("-99", 0)):
        said = reset(at, left, "--topic", filled, "--shift-by", scenario, "--dry-run")
        assert said.code == 0
        assert set(offsets(said).values()) == {wanted}
        assert f"Value will be set to {wanted}" in said.err


def test_a_moment_behind_the_last_record_falls_back_to_the_end(
    at: At, left: str, filled: str
) -> None:
    said = reset(at, left, "--topic", f"{filled}:1", "--by-duration", "PT1S", "--dry-run").ok()
    warning = (
        f"Warn: Partition 1 from topic {filled} is empty. Falling back to latest known offset."
    )
    assert said.lines[:2] == ["", warning]
    assert said.lines[-1].split() == [left, filled, "1", "10"]


def test_without_a_word_it_is_a_dry_run_and_says_so(at: At, left: str, filled: str) -> None:
    said = reset(at, left, "--topic", filled, "--to-latest")
    assert said.code == 0
    assert said.err.startswith("WARN: No action will be performed as the --execute option")
    assert standing(at, left)["0"][0] == "4"


def test_an_exported_plan_can_be_given_back(at: At, left: str, filled: str, tmp_path: Path) -> None:
    said = reset(at, left, "--topic", filled, "--to-offset", "8", "--dry-run", "--export").ok()
    assert said.lines == [f"{filled},0,8", f"{filled},1,8", ""]
    file = tmp_path / "plan.csv"
    file.write_text(said.out)
    said = reset(at, left, "--from-file", file, "--execute").ok()
    assert set(offsets(said).values()) == {8}
    file.write_text(f"{left},{filled},0,1\nother,{filled},0,2\n")
    assert offsets(reset(at, left, "--from-file", file, "--execute").ok()) == {(filled, 0): 1}
    assert standing(at, left) == {"0": ("1", "10", "9"), "1": ("8", "10", "2")}
    file.write_text("nonsense\n")
    said = reset(at, left, "--from-file", file, "--execute").ok()
    assert "Line 1 is not topic,partition,offset: nonsense" in said.out


def test_a_group_with_members_is_not_reset_or_deleted(at: At, live: str, filled: str) -> None:
    said = reset(at, live, "--topic", filled, "--to-earliest", "--execute").ok()
    assert said.lines[1] == (
        f"Error: Assignments can only be reset if the group '{live}' is inactive, but the current"
        " state is Stable."
    )
    said = brokerd("consumer-groups", *at, "--delete", "--group", live, "--group", "nobody").ok()
    assert said.lines[1] == "Error: Deletion of some consumer groups failed:"
    assert "The group is not empty." in said.out
    assert "The group id does not exist." in said.out
    said = brokerd(
        "consumer-groups", *at, "--delete-offsets", "--group", live, "--topic", f"{filled}:0"
    ).ok()
    assert "Error: Encounter some partition level error" in said.out
    assert "is forbidden while the consumer group is actively subscribed" in said.out


def test_offsets_and_groups_are_deleted(at: At, left: str, filled: str) -> None:
    said = brokerd(
        "consumer-groups", *at, "--delete-offsets", "--group", left, "--topic", f"{filled}:1"
    ).ok()
    assert said.lines[0] == (
        f"Request succeed for deleting offsets with topic {filled}:1 group {left}"
    )
    assert said.lines[-1].split() == [filled, "1", "Successful"]
    assert list(standing(at, left)) == ["0"]
    said = brokerd("consumer-groups", *at, "--delete", "--group", left).ok()
    assert said.lines == [f"Deletion of requested consumer groups ('{left}') was successful."]
    assert left not in brokerd("consumer-groups", *at, "--list").ok().lines


def test_wrong_lines_are_refused_before_anything_is_asked() -> None:
    nobody = ("--bootstrap-server", "127.0.0.1:1")
    to_reset = (*nobody, "--reset-offsets", "--group", "g")
    for arguments, words in (
        (("--list",), 'Missing required argument "[bootstrap-server]"'),
        ((*nobody,), "Command must include exactly one action"),
        ((*nobody, "--describe"), "takes one of these options: [all-groups], [group]"),
        ((*nobody, "--list", "--members", "--verbose"), "Option(s) [members, verbose] are una"),
        ((*nobody, "--describe", "--group", "g", "--type"), "Option(s) [type] are unavailable"),
        ((*nobody, "--delete", "--group", "g", "--state"), "Option(s) [state] are unavailable"),
        ((*nobody, "--describe", "--group", "g", "--state", "x"), "does not take a value for"),
        ((*nobody, "--list", "--group", "g"), 'be used with option "[list]"'),
        ((*nobody, "--describe", "--group", "g", "--topic", "t"), 'used with option "[describe]"'),
        ((*nobody, "--delete", "--group", "g", "--topic", "t"), "topic-specific offset deletion"),
        ((*nobody, "--delete-offsets", "--group", "g"), "takes the following options"),
        ((*nobody, "--describe", "--group", "g", "--members", "--state"), "at most one of"),
        ((*nobody, "--list", "--state", "sleepy"), "Invalid state list 'sleepy'"),
        ((*to_reset, "--topic", "t", "--to-latest", "--to-current"), "can't be used with"),
        ((*to_reset, "--topic", "t", "--to-latest", "--dry-run", "--execute"), "only accepts one"),
    ):
        said = brokerd("consumer-groups", *arguments)
        assert said.code == 1, arguments
        assert words in said.err, arguments


def test_a_reset_without_a_scope_or_a_scenario_is_refused_where_it_would_begin(
    at: At, live: str, filled: str
) -> None:
    for arguments, words in (
        (("--to-latest",), "One of the reset scopes should be defined: --all-topics, --topic."),
        (("--topic", filled), "requires one of the following scenarios: [[to-offset], "),
    ):
        said = reset(at, f"{live}-gone", *arguments)
        assert (said.code, words in said.err) == (1, True), said.err
        said = reset(at, live, *arguments)
        assert (said.code, "can only be reset if the group" in said.out) == (0, True), said.err


def test_all_topics_of_a_group_go_before_one_that_is_named(at: At, left: str, filled: str) -> None:
    said = reset(at, left, "--all-topics", "--topic", "nowhere", "--to-latest", "--dry-run").ok()
    assert offsets(said) == {(filled, 0): 10, (filled, 1): 10}


def test_a_cluster_that_is_away_is_an_error_line() -> None:
    begun = time.monotonic()
    said = brokerd(
        "consumer-groups", "--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "500"
    )
    assert said.lines[1].startswith(
        "Error: Executing consumer group command failed due to No broker could be asked"
    )
    assert time.monotonic() - begun < 60
    said = brokerd("consumer-groups", "--bootstrap-server", "foo", "--list")
    assert "foo is not host:port. Please provide valid host:port like" in said.err


@pytest.mark.kafka
def test_the_lines_are_those_of_kafkas_tool(
    at: At, live: str, filled: str, broker: Brokerd
) -> None:
    gone = f"{live}-gone"
    reset(at, gone, "--topic", filled, "--to-offset", "4", "--execute").ok()
    lines = (
        ("--list",),
        ("--list", "--state"),
        ("--list", "--state", "Empty,Stable"),
        ("--list", "--type"),
        ("--describe", "--group", live),
        ("--describe", "--group", live, "--members"),
        ("--describe", "--group", live, "--members", "--verbose"),
        ("--describe", "--group", live, "--state"),
        ("--describe", "--group", gone),
        ("--describe", "--group", gone, "--group", live, "--group", "nobody"),
        ("--describe", "--group", gone, "--state"),
        ("--describe", "--group", gone, "--members"),
        ("--describe", "--group", "nobody"),
        ("--describe", "--group", "nobody", "--state"),
    )
    assert differences("consumer-groups", at, lines, words=True) == {}


@pytest.mark.kafka
def test_options_that_do_not_go_together_are_those_of_kafkas_tool(at: At, left: str) -> None:
    """Each action with others of its options, or of other actions'."""
    others = (
        ("--all-groups",), ("--topic", "nowhere"), ("--all-topics",), ("--members",),
        ("--verbose",), ("--state",), ("--state", "Empty"), ("--type",), ("--execute",),
        ("--to-latest",),
    )  # fmt: skip
    pairs = [("--group", left, *one, *other) for one, other in combinations(others, 2)]
    for action, given in product(ACTIONS, [(), *others, ("--group", left), *pairs]):
        line = (f"--{action}", *given)
        ours, theirs = (tool("consumer-groups", *at, *line) for tool in (brokerd, kafka))
        assert (line, ours.code) == (line, theirs.code)


@pytest.mark.kafka
def test_resets_are_those_of_kafkas_tool(at: At, left: str, filled: str, tmp_path: Path) -> None:
    reset_left = ("--reset-offsets", "--group", left, "--topic", filled)
    brokerd("topics", *at, "--create", "--topic", OTHER, "--partitions", "1", "--if-not-exists")
    file = tmp_path / "plan.csv"
    file.write_text(f'"{filled}", 0,"5"\n{filled},1,6\n')
    several = ("--group", left, "--group", "others")
    lines = (
        ("--reset-offsets", "--group", left, "--from-file", str(file), "--dry-run"),
        (
            "--reset-offsets",
            *several,
            "--topic",
            OTHER,
            "--to-latest",
            "--export",
            "--dry-run",
        ),
        ("--reset-offsets", "--group", left, "--all-topics", "--shift-by", "2", "--dry-run"),
        (*reset_left, "--to-latest", "--export", "--dry-run"),
        (*reset_left, "--to-offset", "99", "--dry-run"),
        (*reset_left, "--by-duration", "PT1S", "--dry-run"),
        ("--reset-offsets", "--group", left, "--topic", "nowhere", "--to-latest", "--dry-run"),
        ("--delete-offsets", "--group", left, "--topic", f"{filled}:0"),
    )
    assert differences("consumer-groups", at, lines, words=True) == {}

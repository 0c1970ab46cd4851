"""The swap: Apache Kafka on what brokerd wrote, brokerd on what Kafka wrote, and both once more.

Every record, offset, setting, group and producer is told by the one as by the other before it, also
of transactions that Kafka committed, aborted and left open.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from brokerd.errors import ErrorCode
from tests.interop import seen
from tests.interop.swap import (
    COMPACTED,
    COMPACTED_LEDGER,
    FIRST_MS,
    LEDGER,
    Swap,
    alter,
    put,
    transaction,
    wait_until,
)
from tests.support.brokerd_tools import brokerd
from tests.support.kafka import dump_of_log
from tests.support.kafka_tools import kafka
from tests.support.zookeeper import ZooKeeper
from tests.support.zookeeper_rights import rights_of_all

pytestmark = pytest.mark.kafka

PARTS = (
    "topics", "records", "committed records", "last values", "starts", "ends", "stable ends",
    "offsets of the latest record", "offsets by time", "groups", "unstable", "producers",
    "first epochs", "aborted", "transaction indexes",
)  # fmt: skip
Look = dict[str, Any]


def look(swap: Swap) -> Look:
    """What the broker that runs now tells."""
    address = swap.address
    topics = seen.topics(address)
    places = [(name, index) for name, (_, count, _) in topics.items() for index in range(count)]
    kept = [place for place in places if place[0] not in COMPACTED]
    committed = seen.records(address, places, "read_committed")
    compacted = {place: committed.pop(place) for place in places if place[0] in COMPACTED}
    return {
        "topics": topics,
        "records": seen.records(address, kept, "read_uncommitted"),
        "committed records": committed,
        "last values": {place: _last_values(rows) for place, rows in compacted.items()},
        "starts": seen.ends(address, kept, OffsetSpec.earliest()),
        "ends": seen.ends(address, places, OffsetSpec.latest()),
        "stable ends": seen.ends(
            address, places, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED
        ),
        "offsets of the latest record": seen.ends(address, kept, OffsetSpec.max_timestamp()),
        # Kafka finds none where the segment that had it is below the log start and still there.
        "offsets by time": seen.ends(
            address,
            [each for each in kept if each[0] != "deleted-from"],
            OffsetSpec.for_timestamp(FIRST_MS + 42),
        ),
        "groups": seen.committed(address),
        "unstable": seen.unstable(address, "waiting", (LEDGER, 0)),
        "producers": seen.producers(address, places),
        "first epochs": seen.epoch_ends(address, kept),
        "aborted": seen.aborted(address, (LEDGER, 0)),
        "transaction indexes": {
            path.name: path.read_bytes() for path in (swap.logs / f"{LEDGER}-0").glob("*.txnindex")
        },
    }


def _last_values(rows: list[seen.Row]) -> dict[bytes | None, bytes]:
    """By key; a record without a value takes its key away."""
    found = {key: value for _, _, key, value, _ in rows}
    return {key: value for key, value in found.items() if value is not None}


class Story:
    """What each broker told, in the order in which they took turns."""

    def __init__(self, swap: Swap) -> None:
        self.swap = swap
        self.by_brokerd = self.brokerd_begins()
        self.kafka_on_brokerds, self.by_kafka = self.kafka_takes_over()
        self.brokerd_on_kafkas = self.brokerd_comes_back()
        self.brokerd_again, self.compacted_by_brokerd = self.brokerd_goes_on()
        self.dump = dump_of_log(swap.logs / f"{COMPACTED_LEDGER}-0")
        self.kafka_at_last, self.kafka_after_the_open_one = self.kafka_ends_it()
        zookeeper = swap.zookeeper
        self.rights = rights_of_all(zookeeper.connect("/swap"), zookeeper.credentials)

    def brokerd_begins(self) -> Look:
        swap = self.swap
        swap.brokerd.start()
        swap.create_topics()
        swap.write(0)
        put(swap.address, "recovered", 0)
        for ledger in (LEDGER, COMPACTED_LEDGER):
            put(swap.address, ledger, 0, keys=4)
        swap.wait_until_cleaned("compacted", 60)
        swap.brokerd.kill()
        swap.brokerd.start()
        put(swap.address, "recovered", 1)
        told = look(swap)
        swap.brokerd.stop()
        return told

    def kafka_takes_over(self) -> tuple[Look, Look]:
        """Ends as by kill -9, with a transaction open."""
        swap = self.swap
        swap.start_kafka()
        first = look(swap)
        swap.write(1)
        for number in range(8):
            end = "abort" if number % 2 else "commit"
            self.text = [f"{end}-{number}-{i}" * 9 for i in range(6)]
            keys = 4 if number % 4 == 2 else 6
            transaction(swap.address, f"writer-{number % 3}", self.text, end, keys,
                        ("processor", number))  # fmt: skip
        self.stable = seen.ends(swap.address, [(COMPACTED_LEDGER, 0)], OffsetSpec.latest())
        transaction(swap.address, "hanging", ["open"], "none", 1, ("waiting", 50))
        transaction(swap.address, "later", ["commit-later" * 9] * 5, "commit", 1, ("processor", 60))
        last = look(swap)
        swap.wait_until_saved("deleted-from", last["starts"]["deleted-from", 0])
        swap.kafka.kill()
        swap.kafka.forget()
        return first, last

    def brokerd_comes_back(self) -> Look:
        self.swap.brokerd.start()
        told = look(self.swap)
        self.swap.brokerd.stop()
        return told

    def brokerd_goes_on(self) -> tuple[Look, Look]:
        swap = self.swap
        swap.brokerd.start()
        first = look(swap)
        alter(swap.address, COMPACTED_LEDGER, "min.cleanable.dirty.ratio", "0.01")
        swap.wait_until_cleaned(COMPACTED_LEDGER, self.stable[COMPACTED_LEDGER, 0] // 2 + 50)
        ledger = [(COMPACTED_LEDGER, 0)]
        (self.committed,) = seen.records(swap.address, ledger, "read_committed").values()
        (self.uncommitted,) = seen.records(swap.address, ledger, "read_uncommitted").values()
        wait_until(lambda: swap.waiting_for_transactions() != [])
        self.waiting = swap.waiting_for_transactions()
        swap.write(2)
        last = look(swap)
        swap.brokerd.stop()
        return first, last

    def kafka_ends_it(self) -> tuple[Look, Look]:
        swap = self.swap
        swap.start_kafka()
        first = look(swap)
        # It aborts what it had begun.
        transaction(swap.address, "hanging", ["end"], "commit", 1, ("waiting", 51))
        swap.write(3)
        last = look(swap)
        swap.kafka.stop()
        return first, last


@pytest.fixture(scope="module")
def story(
    secured_zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    swap = Swap(tmp_path_factory.mktemp("swap"), secured_zookeeper)
    try:
        yield Story(swap)
    finally:
        swap.close()


@pytest.mark.parametrize("part", PARTS)
def test_kafka_tells_what_brokerd_told(story: Story, part: str) -> None:
    assert story.kafka_on_brokerds[part] == story.by_brokerd[part]


@pytest.mark.parametrize("part", PARTS)
def test_brokerd_tells_what_kafka_told_before_it_was_killed(story: Story, part: str) -> None:
    assert story.brokerd_on_kafkas[part] == story.by_kafka[part]


@pytest.mark.parametrize("part", PARTS)
def test_brokerd_tells_the_same_after_a_clean_restart(story: Story, part: str) -> None:
    assert story.brokerd_again[part] == story.by_kafka[part]


@pytest.mark.parametrize("part", PARTS)
def test_kafka_tells_what_brokerd_told_of_it_all(story: Story, part: str) -> None:
    assert story.kafka_at_last[part] == story.compacted_by_brokerd[part]


def test_whichever_of_the_two_made_a_node_both_write_it_and_nobody_else(story: Story) -> None:
    assert {"/brokers/topics/ledger/partitions/0/state", "/controller_epoch"} <= story.rights.keys()
    everybody = {"sasl:broker": 31, "world:anyone": 1}
    assert [path for path, of in story.rights.items() if of != everybody] == [
        path for path in story.rights if path.startswith(("/config/users", "/config/brokers"))
    ]


def test_there_was_something_to_tell(story: Story) -> None:
    told = story.by_kafka
    assert {len(rows) for (name, _), rows in told["records"].items() if "codec" in name} == {200}
    assert told["starts"]["deleted-from", 0] == 87
    assert told["stable ends"][LEDGER, 0] < told["ends"][LEDGER, 0]
    assert len(told["transaction indexes"]) >= 2
    listed = {entry for entries in told["aborted"].values() for entry in entries}
    assert len(listed) == 4
    assert [] in told["aborted"].values()
    assert len(told["producers"][LEDGER, 0]) == 5
    assert told["groups"]["readers"] == [
        ("codec-zstd", 0, 5, ""), ("rolled", 0, 21, "where I was"),
    ]  # fmt: skip
    assert told["groups"]["processor"] == [(LEDGER, 0, 60, None)]
    assert told["unstable"] == [(-1, ErrorCode.UNSTABLE_OFFSET_COMMIT), (-1, ErrorCode.NONE)]
    assert len(list((story.swap.logs / "rolled-0").glob("*.log"))) > 3


def test_compaction_tells_that_it_waits_for_the_open_transaction(story: Story) -> None:
    (waiting,) = story.waiting
    stable = story.by_kafka["stable ends"][COMPACTED_LEDGER, 0]
    assert waiting.pop("reason").startswith(f"a transaction that begins at offset {stable} is open")
    (producer_id,) = waiting.pop("producer_ids")
    assert producer_id in [row[0] for row in story.by_kafka["producers"][COMPACTED_LEDGER, 0]]
    assert waiting == {
        "topic": COMPACTED_LEDGER, "partition": 0, "first_unstable_offset": stable,
    }  # fmt: skip


def test_one_idempotent_producer_wrote_through_it_all(story: Story) -> None:
    told = story.kafka_after_the_open_one
    values = [
        sorted(int(row[3]) for row in told["records"]["idempotent", index]) for index in (0, 1)
    ]
    assert values == [list(range(index, story.swap.sent, 2)) for index in (0, 1)]
    (producer,) = told["producers"]["idempotent", 0]
    assert producer[0] == story.by_brokerd["producers"]["idempotent", 0][0][0]
    assert producer[2] == story.swap.sent // 2 - 1


def test_kafkas_transactions_were_compacted_by_brokerd(story: Story) -> None:
    place = (COMPACTED_LEDGER, 0)
    committed = {key: value for _, _, key, value, _ in story.committed}
    assert committed == story.by_kafka["last values"][place]
    assert len(story.committed) == len(committed)
    values = {value.decode() for _, _, _, value, _ in story.uncommitted}
    aborted = {value for value in values if value.startswith("abort")}
    assert aborted == set(story.text)  # those of the last one are in the segment of the open one
    for part in ("ends", "stable ends", "producers"):
        assert story.compacted_by_brokerd[part][place] == story.by_kafka[part][place]
    assert not re.findall("ismatch|isvalid: false|Exception|not found|ERROR", story.dump)
    markers = [story.dump.count(f"endTxnMarker: {kind}") for kind in ("ABORT", "COMMIT")]
    assert markers == [4, 5]


def test_kafka_aborts_the_open_transaction_and_serves_on(story: Story) -> None:
    before, after = story.kafka_at_last, story.kafka_after_the_open_one
    assert after["stable ends"] == after["ends"]
    end = {**before["last values"][COMPACTED_LEDGER, 0], b"key-0": b"end"}
    assert after["last values"][COMPACTED_LEDGER, 0] == end
    assert after["committed records"][LEDGER, 0][-1][3] == b"end"
    assert after["groups"]["waiting"] == [(LEDGER, 0, 51, None)]
    assert b"open" not in [row[3] for row in after["committed records"][LEDGER, 0]]


@pytest.mark.parametrize(
    ("topic", "decoder"),
    [
        ("__consumer_offsets", "--offsets-decoder"),
        ("__transaction_state", "--transaction-log-decoder"),
    ],
)
def test_both_tools_show_alike_what_both_brokers_kept(
    story: Story, topic: str, decoder: str
) -> None:
    paths = sorted(story.swap.logs.glob(f"{topic}-*/*.log"))
    written = ",".join(str(path) for path in paths if path.stat().st_size)
    theirs, ours = (tool("dump-log", decoder, "--files", written) for tool in (kafka, brokerd))
    # partitions of a transaction come out of a hash set there
    parts = [sorted(re.split(r"[\n,\[\]]", said.out)) for said in (ours, theirs)]
    assert parts[0] == parts[1]
    assert (ours.err, ours.code) == (theirs.err, 0)
    assert "hanging" in ours.out or "readers" in ours.out

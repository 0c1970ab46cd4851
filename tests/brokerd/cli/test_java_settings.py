"""Settings of Java's clients in librdkafka's words, and which place goes before which."""

import pytest

from brokerd.cli import java_settings
from brokerd.cli.librdkafka import merged
from brokerd.cli.options import CliError, Options

RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
ROUND_ROBIN = "org.apache.kafka.clients.consumer.RoundRobinAssignor"
PARTITIONER = "org.apache.kafka.clients.producer.RoundRobinPartitioner"


def test_an_option_goes_before_what_was_told_and_that_before_the_default() -> None:
    table = (("acks", "acks", "-1"), ("batch.size", "batch-size", 1), ("batch.size", "memory", 1),
             ("group.id", "group", None))  # fmt: skip
    nothing = Options(acks=None, batch_size=None, memory=None, group=None)
    assert merged({}, nothing, table) == {"acks": "-1", "batch.size": "1"}
    assert merged({"acks": "1", "x": "y"}, nothing, table)["acks"] == "1"
    given = Options(acks="0", batch_size=7, memory=None, group="")
    wanted = {"acks": "0", "batch.size": "7", "group.id": ""}
    assert merged({"acks": "1", "batch.size": "9", "group.id": "g"}, given, table) == wanted
    both = Options(acks=None, batch_size=7, memory=8, group=None)
    assert merged({}, both, table)["batch.size"] == "8"


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"max.request.size": "5000000"}, {"message.max.bytes": "5000000"}),
        ({}, {"message.max.bytes": "1048576", "message.timeout.ms": "60000"}),
        ({"partitioner.class": PARTITIONER}, {"partitioner": "random"}),
        ({"max.block.ms": "0", "linger.ms": "9"}, {"message.timeout.ms": "10"}),
        ({"delivery.timeout.ms": "7000", "linger.ms": "9", "max.block.ms": "1"},
         {"delivery.timeout.ms": "7000"}),
        ({"message.timeout.ms": "3", "linger.ms": "2"}, {"message.timeout.ms": "3"}),
        ({"compression.type": "zstd", "compression.zstd.level": "9", "compression.lz4.level": "1"},
         {"compression.level": "9"}),
        ({"acks": "1"}, {"enable.idempotence": "false"}),
        ({"retries": "0"}, {"enable.idempotence": "false"}),
        ({"max.in.flight.requests.per.connection": "6"}, {"enable.idempotence": "false"}),
        ({"acks": "all"}, {"enable.idempotence": "true"}),
    ],
)  # fmt: skip
def test_what_a_producer_is_told(told: dict[str, str], wanted: dict[str, str]) -> None:
    assert java_settings.producer(told).items() >= wanted.items()


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"fetch.max.wait.ms": "20"}, {"fetch.wait.max.ms": "20"}),
        ({"request.timeout.ms": "20000"}, {"socket.timeout.ms": "20000"}),
        ({"fetch.max.bytes": "5000"}, {"fetch.max.bytes": "5000", "message.max.bytes": "5000"}),
        ({"metadata.max.age.ms": "5000"}, {"topic.metadata.refresh.interval.ms": "5000"}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"partition.assignment.strategy": f"{RANGE}, {ROUND_ROBIN}"},
         {"partition.assignment.strategy": "range,roundrobin"}),
        ({"partition.assignment.strategy": COOPERATIVE},
         {"partition.assignment.strategy": "cooperative-sticky"}),
    ],
)  # fmt: skip
def test_what_a_consumer_is_told(told: dict[str, str], wanted: dict[str, str]) -> None:
    assert java_settings.consumer(told).items() >= wanted.items()


def test_what_is_librdkafkas_own_goes_before_its_name_in_java() -> None:
    told = {"message.max.bytes": "2000", "max.request.size": "3000"}
    assert java_settings.producer(told)["message.max.bytes"] == "2000"


def test_classes_that_are_not_built_in_are_refused() -> None:
    for kind, name in (
        (java_settings.producer, "partitioner.class"),
        (java_settings.consumer, "partition.assignment.strategy"),
    ):
        with pytest.raises(CliError, match="is not built in; these are: org"):
            kind({name: "my.Own"})

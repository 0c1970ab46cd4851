"""Settings of Java's clients in librdkafka's words, and which place goes before which."""

from argparse import Namespace

import pytest

from brokerd.cli import java_settings
from brokerd.cli.librdkafka import merged
from brokerd.cli.options import CliError

RANGE, STICKY = (
    f"org.apache.kafka.clients.consumer.{each}Assignor" for each in ("Range", "Sticky")
)
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
ROUND_ROBIN = "org.apache.kafka.clients.consumer.RoundRobinAssignor"


def test_an_option_goes_before_what_was_told_and_that_before_the_default() -> None:
    table = (("acks", "acks", "-1"), ("batch.size", "batch-size", 1), ("batch.size", "memory", 1),
             ("group.id", "group", None))  # fmt: skip
    nothing = Namespace(acks=None, batch_size=None, memory=None, group=None)
    assert merged({}, nothing, table) == {"acks": "-1", "batch.size": "1"}
    assert merged({"acks": "1", "x": "y"}, nothing, table)["acks"] == "1"
    given = Namespace(acks="0", batch_size=7, memory=None, group="")
    wanted = {"acks": "0", "batch.size": "7", "group.id": ""}
    assert merged({"acks": "1", "batch.size": "9", "group.id": "g"}, given, table) == wanted
    both = Namespace(acks=None, batch_size=7, memory=8, group=None)
    assert merged({}, both, table)["batch.size"] == "8"


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"max.request.size": "5000000"}, {"message.max.bytes": "5000000"}),
        ({"max.request.size": "10"}, {"message.max.bytes": "1000"}),
        ({}, {"message.max.bytes": "1048576", "message.timeout.ms": "60000"}),
        ({"batch.size": "0", "retry.backoff.ms": "0"},
         {"batch.size": "1", "retry.backoff.ms": "1"}),
        ({"max.block.ms": "0", "linger.ms": "9"}, {"message.timeout.ms": "10"}),
        ({"delivery.timeout.ms": "7000", "linger.ms": "9", "max.block.ms": "1"},
         {"message.timeout.ms": "7000"}),
        ({"message.timeout.ms": "3", "linger.ms": "2"}, {"message.timeout.ms": "3"}),
        ({"compression.type": "zstd", "compression.zstd.level": "22", "compression.lz4.level": "1"},
         {"compression.level": "12"}),
        ({"reconnect.backoff.ms": "30000"}, {"reconnect.backoff.max.ms": "30000"}),
        ({"reconnect.backoff.max.ms": "9"}, {"reconnect.backoff.ms": "9"}),
        ({"metadata.max.age.ms": "5000"}, {"topic.metadata.refresh.interval.ms": "5000"}),
        ({"connections.max.idle.ms": "-1"}, {"connections.max.idle.ms": "0"}),
        ({"partitioner.ignore.keys": "TRUE"}, {"partitioner": "random"}),
        ({"acks": "1"}, {"enable.idempotence": "false"}),
        ({"retries": "0"}, {"enable.idempotence": "false"}),
        ({"max.in.flight.requests.per.connection": "6"}, {"enable.idempotence": "false"}),
        ({"acks": "all"}, {"enable.idempotence": "true"}),
    ],
)  # fmt: skip
def test_what_a_producer_is_told(told: dict[str, str], wanted: dict[str, str]) -> None:
    assert java_settings.producer(told).settings.items() >= wanted.items()


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"fetch.max.wait.ms": "20"}, {"fetch.wait.max.ms": "20"}),
        ({"request.timeout.ms": "20000"}, {"socket.timeout.ms": "20000"}),
        ({"fetch.max.bytes": "0"}, {"fetch.max.bytes": "1000", "message.max.bytes": "1000"}),
        ({"fetch.max.bytes": "2000000000"}, {"message.max.bytes": "1000000"}),
        ({"max.poll.interval.ms": "1000"}, {"max.poll.interval.ms": "45000"}),
        ({"session.timeout.ms": "600000"}, {"max.poll.interval.ms": "600000"}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        ({"partition.assignment.strategy": f"{RANGE}, {COOPERATIVE}"},
         {"partition.assignment.strategy": "range"}),
        ({"partition.assignment.strategy": f"{STICKY},{ROUND_ROBIN}"},
         {"partition.assignment.strategy": "roundrobin"}),
        ({"partition.assignment.strategy": COOPERATIVE},
         {"partition.assignment.strategy": "cooperative-sticky"}),
    ],
)  # fmt: skip
def test_what_a_consumer_is_told(told: dict[str, str], wanted: dict[str, str]) -> None:
    assert java_settings.consumer(told).settings.items() >= wanted.items()


def test_what_changes_nothing_here_is_passed_over() -> None:
    told = {"interceptor.classes": "a.B", "buffer.memory": "1", "send.buffer.bytes": "-1",
            "key.serializer": "a.B", "metric.reporters": "", "sasl.login.class": "a.B"}  # fmt: skip
    nothing = java_settings.producer({})
    assert java_settings.producer(told) == nothing
    told = {"exclude.internal.topics": "false", "max.poll.records": "1", "key.deserializer": "a.B"}
    assert java_settings.consumer(told) == java_settings.consumer({})


def test_what_neither_of_javas_clients_has_goes_to_librdkafka() -> None:
    told = {"fetch.min.bytes": "1", "queue.buffering.max.ms": "3", "linger.ms": "7", "logger": "x"}
    found = java_settings.producer(told)
    assert list(found.settings)[:2] == ["linger.ms", "queue.buffering.max.ms"]
    assert "fetch.min.bytes" not in found.settings
    assert found.unused == ["logger"]


@pytest.mark.parametrize(
    ("kind", "told", "words"),
    [
        (
            "producer",
            {"acks": "2"},
            "Invalid value 2 for configuration acks: String must be one of",
        ),
        ("producer", {"retries": "1_0"}, "Not a number of type INT"),
        ("producer", {"retries": "2147483648"}, "Not a number of type INT"),
        ("producer", {"linger.ms": "-1"}, "Value must be at least 0"),
        ("producer", {"compression.lz4.level": "18"}, "Value must be no more than 17"),
        ("producer", {"enable.idempotence": "1"}, "Expected value to be either true or false"),
        ("producer", {"partitioner.class": "Mine"}, "it is not built in"),
        (
            "producer",
            {"delivery.timeout.ms": "9", "linger.ms": "10"},
            "should be equal to or larger",
        ),
        ("consumer", {"partition.assignment.strategy": STICKY}, "not built in"),
        ("consumer", {"partition.assignment.strategy": f"{RANGE},Mine"}, "not built in"),
        ("consumer", {"session.timeout.ms": "3000"}, "Heartbeat must be set lower"),
        ("consumer", {"max.poll.records": "0"}, "Value must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(kind: str, told: dict[str, str], words: str) -> None:
    with pytest.raises(CliError, match=words):
        getattr(java_settings, kind)(told)

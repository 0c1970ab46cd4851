"""Translates settings of Kafka's Java clients to librdkafka's, for the console tools. Pure. Most
have the same name there, and librdkafka checks their values."""

from collections.abc import Mapping

from brokerd.cli.options import CliError

MAX_BLOCK_MS = 60_000
MAX_REQUEST_BYTES = 1 << 20
_FETCH_MAX_BYTES_MIN = 1_000_000
"""librdkafka's default of message.max.bytes: fetch.max.bytes may not be lower than that."""
_IN_FLIGHT_MAX = 5  # of an idempotent producer
_PRODUCER = {"max.request.size": "message.max.bytes", "partitioner.class": "partitioner"}
_CONSUMER = {"fetch.max.wait.ms": "fetch.wait.max.ms", "request.timeout.ms": "socket.timeout.ms"}
_CLIENTS = "org.apache.kafka.clients."
_CLASSES = {
    f"{_CLIENTS}producer.internals.DefaultPartitioner": "murmur2_random",
    f"{_CLIENTS}producer.RoundRobinPartitioner": "random",
    f"{_CLIENTS}producer.UniformStickyPartitioner": "random",
    f"{_CLIENTS}consumer.RangeAssignor": "range",
    f"{_CLIENTS}consumer.RoundRobinAssignor": "roundrobin",
    f"{_CLIENTS}consumer.CooperativeStickyAssignor": "cooperative-sticky",
}


def producer(given: Mapping[str, str]) -> dict[str, str]:
    """A producer's settings. Raises CliError."""
    settings = _renamed(given, _PRODUCER)
    if "partitioner" in settings:
        settings["partitioner"] = _class(settings["partitioner"])
    for codec in ("gzip", "lz4", "zstd"):
        level = settings.pop(f"compression.{codec}.level", None)
        if level is not None and settings.get("compression.type") == codec:
            settings["compression.level"] = level
    settings.setdefault("message.max.bytes", str(MAX_REQUEST_BYTES))
    # max.block.ms and delivery.timeout.ms are one timeout in librdkafka, counted from when a record
    # is queued: delivery.timeout.ms if it is set, else max.block.ms
    block_ms = settings.pop("max.block.ms", str(MAX_BLOCK_MS))
    if "delivery.timeout.ms" not in settings:
        settings.setdefault(
            "message.timeout.ms", _above_linger(block_ms, settings.get("linger.ms", "0"))
        )
    settings.setdefault("enable.idempotence", str(_may_be_idempotent(settings)).lower())
    return settings


def _above_linger(timeout_ms: str, linger_ms: str) -> str:
    """The timeout; librdkafka requires it to be longer than linger.ms."""
    try:
        return str(max(int(timeout_ms), int(linger_ms) + 1))
    except ValueError:
        return timeout_ms  # librdkafka reports that it is no number


def _may_be_idempotent(settings: Mapping[str, str]) -> bool:
    """Whether no setting rules idempotence out; then Kafka's producer is idempotent by default."""
    in_flight = settings.get("max.in.flight.requests.per.connection", "1")
    return (
        settings.get("acks", "all") in ("all", "-1")
        and settings.get("retries") != "0"
        and in_flight.isdecimal()
        and int(in_flight) <= _IN_FLIGHT_MAX
    )


def consumer(given: Mapping[str, str]) -> dict[str, str]:
    """A consumer's settings. Raises CliError."""
    settings = _renamed(given, _CONSUMER)
    if settings.get("auto.offset.reset") == "none":
        settings["auto.offset.reset"] = "error"
    if "partition.assignment.strategy" in settings:
        named = settings["partition.assignment.strategy"].split(",")
        settings["partition.assignment.strategy"] = ",".join(_class(each.strip()) for each in named)
    if "metadata.max.age.ms" in settings:  # when topics that match a pattern are looked for again
        settings["topic.metadata.refresh.interval.ms"] = settings["metadata.max.age.ms"]
    most = settings.get("fetch.max.bytes", "")
    if most.isdecimal() and int(most) < _FETCH_MAX_BYTES_MIN:
        settings.setdefault("message.max.bytes", most)
    return settings


def _renamed(given: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Settings by librdkafka's names; one that was given by that name takes precedence."""
    return {names[key]: value for key, value in given.items() if key in names} | {
        key: value for key, value in given.items() if key not in names
    }


def _class(name: str) -> str:
    if name not in _CLASSES:
        raise CliError(f"{name} is not built in; these are: {', '.join(_CLASSES)}")
    return _CLASSES[name]

"""Settings of Kafka's Java clients in librdkafka's words, for the console tools. Pure.

Which there are, and what each may be, is that of ProducerConfig and ConsumerConfig of Kafka 3.9,
with its words for a value that may not be. Where librdkafka takes less than Java's clients, the
nearest that it takes is meant.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from brokerd.cli.options import CliError
from brokerd.config.values import ascii_digits
from brokerd.limits import INT32_MAX, INT64_MAX

Check = Callable[[str], str]
"""The value as librdkafka takes it; ValueError in Java's words."""

MAX_BLOCK_MS = 60_000
MAX_REQUEST_BYTES = 1 << 20
_METADATA_REFRESH_MS = (10, 3_600_000)
_LEVELS = (-1, 12)
_LEAST_MESSAGE_MAX_BYTES = 1000
_MOST_MESSAGE_MAX_BYTES = 1_000_000_000
_FETCH_LEAST_BYTES = 1_000_000
"""librdkafka's default of message.max.bytes, below which fetch.max.bytes may not be."""
_SESSION_TIMEOUT_MS = 45_000
_HEARTBEAT_MS = 3_000
_POLL_INTERVAL_MS = 300_000
_RECONNECT_MS = 50
_KINDS = {"INT": INT32_MAX, "LONG": INT64_MAX}


@dataclass(frozen=True, slots=True)
class Setting:
    """One that Java's clients have; without a name librdkafka lacks it, and nothing goes there."""

    check: Check
    name: str | None = None


@dataclass(slots=True)
class Translated:
    """What goes to librdkafka, and which names are of nobody."""

    settings: dict[str, str]
    unused: list[str] = field(default_factory=list)


def _text(text: str) -> str:
    return text


def _number(
    kind: str, low: int | None = None, high: int | None = None, taken: tuple[int, int] | None = None
) -> Check:
    """A whole number of that kind, moved into what librdkafka takes."""

    def check(text: str) -> str:
        try:
            value = int(ascii_digits(text))
        except ValueError:
            value = INT64_MAX + 1
        if not -_KINDS[kind] - 1 <= value <= _KINDS[kind]:
            raise ValueError(f"Not a number of type {kind}")
        if low is not None and value < low:
            raise ValueError(f"Value must be at least {low}")
        if high is not None and value > high:
            raise ValueError(f"Value must be no more than {high}")
        return str(value if taken is None else _within(value, taken))

    return check


def _one_of(*known: str, any_case: bool = False) -> Check:
    def check(text: str) -> str:
        if text in known or (any_case and text.upper() in known):
            return text
        how = " (case insensitive)" if any_case else ""
        raise ValueError(f"String must be one of{how}: {', '.join(known)}")

    return check


def _boolean(text: str) -> str:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.strip().lower()


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("String must be non-empty")
    return text


def _reset(text: str) -> str:
    return {"none": "error"}.get(_one_of("latest", "earliest", "none")(text), text)


_PARTITIONERS = {
    "org.apache.kafka.clients.producer.internals.DefaultPartitioner": "murmur2_random",
    "org.apache.kafka.clients.producer.RoundRobinPartitioner": "random",
    "org.apache.kafka.clients.producer.UniformStickyPartitioner": "random",
}


def _partitioner(text: str) -> str:
    if text not in _PARTITIONERS:
        raise ValueError(f"it is not built in; these are: {', '.join(_PARTITIONERS)}")
    return _PARTITIONERS[text]


_ASSIGNOR = "org.apache.kafka.clients.consumer."
_COOPERATIVE = "cooperative-sticky"
_ASSIGNORS = {
    f"{_ASSIGNOR}RangeAssignor": "range",
    f"{_ASSIGNOR}RoundRobinAssignor": "roundrobin",
    f"{_ASSIGNOR}CooperativeStickyAssignor": _COOPERATIVE,
}


def _assignors(text: str) -> str:
    """Of some that rebalance eagerly and some that do not, Java's consumer is eager with all of
    them; librdkafka takes only one sort."""
    named = [each.strip() for each in text.split(",") if each.strip()]
    known = [_ASSIGNORS.get(each, each) for each in named if each != f"{_ASSIGNOR}StickyAssignor"]
    if not known or not set(known) <= set(_ASSIGNORS.values()):
        raise ValueError(f"one is not built in; these are: {', '.join(_ASSIGNORS)}")
    eager = [each for each in known if each != _COOPERATIVE]
    return ",".join(dict.fromkeys(eager or known))


_BUFFER = _number("INT", -1)
_MS = _number("LONG", 0)
_RECONNECT = _number("LONG", 0, taken=(0, 3_600_000))
_RETRY = _number("LONG", 0, taken=(1, 300_000))
_PROTOCOLS = ("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT")


def _same(checks: Mapping[str, Check]) -> dict[str, Setting]:
    """Those that librdkafka calls the same."""
    return {name: Setting(check, name) for name, check in checks.items()}


def _lacking(checks: Mapping[str, Check]) -> dict[str, Setting]:
    return {name: Setting(check) for name, check in checks.items()}


_COMMON = _same({
    "client.dns.lookup": _one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "client.id": _text,
    "connections.max.idle.ms": _number("LONG", taken=(0, INT32_MAX)),
    "enable.metrics.push": _boolean,
    "metadata.max.age.ms": _number("LONG", 0, taken=(1, 86_400_000)),
    "metadata.recovery.strategy": _one_of("REBOOTSTRAP", "NONE", any_case=True),
    "reconnect.backoff.max.ms": _RECONNECT,
    "reconnect.backoff.ms": _RECONNECT,
    "retry.backoff.max.ms": _RETRY,
    "retry.backoff.ms": _RETRY,
    "security.protocol": _one_of(*_PROTOCOLS, any_case=True),
    "socket.connection.setup.timeout.ms": _number("LONG", taken=(1000, INT32_MAX)),
}) | _lacking({
    "auto.include.jmx.reporter": _boolean,
    "bootstrap.servers": _text,
    "config.providers": _text,
    "interceptor.classes": _text,
    "metric.reporters": _text,
    "metrics.num.samples": _number("INT", 1),
    "metrics.recording.level": _one_of("INFO", "DEBUG", "TRACE"),
    "metrics.sample.window.ms": _MS,
    "receive.buffer.bytes": _BUFFER,
    "security.providers": _text,
    "send.buffer.bytes": _BUFFER,
    "socket.connection.setup.timeout.max.ms": _number("LONG"),
})  # fmt: skip

PRODUCER = _COMMON | _same({
    "acks": _one_of("all", "-1", "0", "1"),
    "batch.size": _number("INT", 0, taken=(1, INT32_MAX)),
    "compression.type": _one_of("none", "gzip", "snappy", "lz4", "zstd"),
    "enable.idempotence": _boolean,
    "linger.ms": _number("LONG", 0, taken=(0, 900_000)),
    "max.in.flight.requests.per.connection": _number("INT", 1, taken=(1, 1_000_000)),
    "message.max.bytes": _number("INT", _LEAST_MESSAGE_MAX_BYTES, _MOST_MESSAGE_MAX_BYTES),
    "request.timeout.ms": _number("INT", 0, taken=(1, 900_000)),
    "retries": _number("INT", 0),
    "transaction.timeout.ms": _number("INT", taken=(1000, INT32_MAX)),
    "transactional.id": _not_empty,
}) | {
    "max.request.size": Setting(
        _number("INT", 0, taken=(_LEAST_MESSAGE_MAX_BYTES, _MOST_MESSAGE_MAX_BYTES)),
        "message.max.bytes",
    ),
    "partitioner.class": Setting(_partitioner, "partitioner"),
} | _lacking({
    "buffer.memory": _number("LONG", 0),
    "compression.gzip.level": _number("INT", -1, 9),
    "compression.lz4.level": _number("INT", 1, 17),
    "compression.zstd.level": _number("INT", -131_072, 22),
    "delivery.timeout.ms": _number("INT", 0),
    "key.serializer": _text,
    "max.block.ms": _MS,
    "metadata.max.idle.ms": _number("LONG", 5000),
    "partitioner.adaptive.partitioning.enable": _boolean,
    "partitioner.availability.timeout.ms": _MS,
    "partitioner.ignore.keys": _boolean,
    "value.serializer": _text,
})  # fmt: skip

CONSUMER = _COMMON | _same({
    "allow.auto.create.topics": _boolean,
    "auto.commit.interval.ms": _number("INT", 0, taken=(0, 86_400_000)),
    "auto.offset.reset": _reset,
    "check.crcs": _boolean,
    "client.rack": _text,
    "enable.auto.commit": _boolean,
    "fetch.max.bytes": _number("INT", 0, taken=(_LEAST_MESSAGE_MAX_BYTES, 2_147_483_135)),
    "fetch.min.bytes": _number("INT", 0, taken=(1, 100_000_000)),
    "group.id": _text,
    "group.instance.id": _not_empty,
    "group.protocol": _one_of("CONSUMER", "CLASSIC", any_case=True),
    "group.remote.assignor": _text,
    "heartbeat.interval.ms": _number("INT", taken=(1, 3_600_000)),
    "isolation.level": _one_of("read_committed", "read_uncommitted"),
    "max.partition.fetch.bytes": _number("INT", 0, taken=(1, 1_000_000_000)),
    "max.poll.interval.ms": _number("INT", 1, taken=(1, 86_400_000)),
    "partition.assignment.strategy": _assignors,
    "session.timeout.ms": _number("INT", taken=(1, 3_600_000)),
}) | {
    "fetch.max.wait.ms": Setting(_number("INT", 0, taken=(0, 300_000)), "fetch.wait.max.ms"),
    "request.timeout.ms": Setting(_number("INT", 0, taken=(10, 300_000)), "socket.timeout.ms"),
} | _lacking({
    "default.api.timeout.ms": _number("INT", 0),
    "exclude.internal.topics": _boolean,  # MatchingTopics does it
    "key.deserializer": _text,
    "max.poll.records": _number("INT", 1),
    "value.deserializer": _text,
})  # fmt: skip

_OF_PYTHON = frozenset({
    "error_cb", "throttle_cb", "stats_cb", "oauth_cb", "on_delivery", "on_commit", "logger",
    "default.topic.config", "delivery.report.only.error",
})  # fmt: skip
"""What confluent_kafka takes besides librdkafka: functions and the like, never a text."""


def producer(given: Mapping[str, str]) -> Translated:
    """A producer's settings. Raises CliError for one that cannot be."""
    ours = _translated(given, PRODUCER, CONSUMER)
    settings = ours.settings
    linger_ms = int(settings.get("linger.ms", 0))
    if "delivery.timeout.ms" in given:
        timeout_ms = int(given["delivery.timeout.ms"])
        if timeout_ms < linger_ms + int(settings.get("request.timeout.ms", 0)):
            raise CliError(
                "delivery.timeout.ms should be equal to or larger than linger.ms +"
                " request.timeout.ms"
            )
    else:
        timeout_ms = int(given.get("max.block.ms", MAX_BLOCK_MS))
    # librdkafka has one clock for both, which runs from the moment a record is queued
    settings.setdefault("message.timeout.ms", str(min(max(timeout_ms, linger_ms + 1), INT32_MAX)))
    settings.setdefault("message.max.bytes", str(MAX_REQUEST_BYTES))
    level = given.get(f"compression.{given.get('compression.type', 'none')}.level")
    if level is not None:
        settings["compression.level"] = str(_within(int(level), _LEVELS))
    if given.get("partitioner.ignore.keys", "").strip().lower() == "true":
        settings.setdefault("partitioner", "random")
    settings.setdefault("enable.idempotence", str(_may_be_idempotent(settings)).lower())
    return ours


def _may_be_idempotent(settings: Mapping[str, str]) -> bool:
    """Whether nothing speaks against it: without a word of it Kafka's producer is so then."""
    return (
        settings.get("acks", "all") in ("all", "-1")
        and settings.get("retries") != "0"
        and int(settings.get("max.in.flight.requests.per.connection", 5)) <= 5
    )


def consumer(given: Mapping[str, str]) -> Translated:
    """A consumer's settings. Raises CliError for one that cannot be."""
    ours = _translated(given, CONSUMER, PRODUCER)
    settings = ours.settings
    session_ms = int(settings.get("session.timeout.ms", _SESSION_TIMEOUT_MS))
    if int(settings.get("heartbeat.interval.ms", _HEARTBEAT_MS)) >= session_ms:
        raise CliError("Heartbeat must be set lower than the session timeout")
    if int(settings.get("max.poll.interval.ms", _POLL_INTERVAL_MS)) < session_ms:
        settings["max.poll.interval.ms"] = str(session_ms)
    if "fetch.max.bytes" in settings:
        least = min(int(settings["fetch.max.bytes"]), _FETCH_LEAST_BYTES)
        settings.setdefault("message.max.bytes", str(least))
    return ours


def _translated(
    java: Mapping[str, str], known: Mapping[str, Setting], of_others: Iterable[str]
) -> Translated:
    """What only the other client has says nothing here. Names of neither stay, behind the others:
    they may be librdkafka's own."""
    unknown: dict[str, str] = {}
    ours = Translated({})
    with_sasl = java.get("security.protocol", "").upper().startswith("SASL_")
    for name, value in java.items():
        if name in known:
            checked = _checked(name, known[name], value)
            if known[name].name is not None:
                ours.settings[str(known[name].name)] = checked
        elif name in _OF_PYTHON:
            ours.unused.append(name)
        elif name not in of_others and (with_sasl or not name.startswith("sasl.")):
            unknown[name] = value
    _match_pairs(ours.settings)
    ours.settings |= unknown
    return ours


def _checked(name: str, setting: Setting, value: str) -> str:
    try:
        return setting.check(value)
    except ValueError as error:
        raise CliError(f"Invalid value {value} for configuration {name}: {error}") from None


def _match_pairs(settings: dict[str, str]) -> None:
    """What librdkafka has in two settings, or wants in a certain order."""
    least, most = "reconnect.backoff.ms", "reconnect.backoff.max.ms"
    if least in settings:
        settings[most] = max(settings[least], settings.get(most, "0"), key=int)
    elif most in settings:
        settings[least] = str(min(_RECONNECT_MS, int(settings[most])))
    if "metadata.max.age.ms" in settings:
        age_ms = int(settings["metadata.max.age.ms"])
        settings["topic.metadata.refresh.interval.ms"] = str(_within(age_ms, _METADATA_REFRESH_MS))


def _within(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])

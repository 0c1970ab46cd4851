"""Settings of Kafka's Java clients for librdkafka, which the console tools send and read with."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from brokerd.cli.addresses import parse_addresses
from brokerd.cli.client import name
from brokerd.cli.client_tls import for_librdkafka
from brokerd.cli.options import CliError, Options, UsageError, read_properties

_JAVA_ONLY = ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer",
              "max.block.ms", "buffer.memory", "partitioner.class", "max.poll.records",
              "receive.buffer.bytes", "send.buffer.bytes", "default.api.timeout.ms")  # fmt: skip


def pairs(texts: Iterable[str] | None) -> dict[str, str]:
    """`key=value` options, as --property gives them."""
    found = {}
    for text in texts or ():
        key, _, value = text.partition("=")
        found[key] = value
    return found


def bootstrap(options: Options) -> str:
    """The brokers of --bootstrap-server or --broker-list. Raises UsageError."""
    text = options.bootstrap_server or getattr(options, "broker_list", None)
    if not text:
        raise UsageError('Missing required argument "[bootstrap-server]"')
    return ",".join(map(name, parse_addresses(text)))


def settings(
    options: Options, defaults: Mapping[str, Any], file: str | None, given: list[str] | None
) -> dict[str, Any]:
    """What goes to librdkafka: ours, then the file's, then those of the command line; but the
    brokers are those of --bootstrap-server whatever a file names."""
    brokers = {"bootstrap.servers": bootstrap(options)}
    client = {"log_level": 0} | dict(defaults)
    told = for_librdkafka(read_properties(file) | pairs(given))
    return client | {key: told[key] for key in told if key not in _JAVA_ONLY} | brokers


def make(kind: Any, config: dict[str, Any]) -> Any:
    """A producer or consumer; CliError for a setting that librdkafka does not take."""
    from confluent_kafka import KafkaException

    try:
        return kind(config | {"error_cb": _Errors()})
    except KafkaException as error:
        raise CliError(f"{error.args[0].str()}") from None


class _Errors:
    """Says once that no broker can be reached; the client goes on trying."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, error: Any) -> None:
        if error.name() not in self._said:
            self._said.add(error.name())
            print(f"WARN {error.str()}", file=sys.stderr, flush=True)

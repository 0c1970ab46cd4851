"""librdkafka's clients, which the console tools send and read with, by the settings of Kafka's."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from brokerd.cli.addresses import bootstrap_addresses
from brokerd.cli.client import name
from brokerd.cli.options import CliError, Options, read_properties

_NO_SUCH = re.compile(r'No such configuration property: "(.*)"', re.DOTALL)

Merged = tuple[str, str, object]
"""A setting, the option that gives it too, and what it is where neither says it."""


def pairs(texts: Iterable[str] | None) -> dict[str, str]:
    """`key=value` options, as --property gives them."""
    found = {}
    for text in texts or ():
        key, _, value = text.partition("=")
        found[key] = value
    return found


def bootstrap(options: Options) -> str:
    """The brokers that the options name. Raises UsageError."""
    return ",".join(map(name, bootstrap_addresses(options)))


def read_settings(file: str | None, given: list[str] | None) -> dict[str, str]:
    """The settings of a file and those of the command line, which go before them."""
    return read_properties(file) | pairs(given)


def merged(
    settings: Mapping[str, str], options: Options, table: Iterable[Merged]
) -> dict[str, str]:
    """As CommandLineUtils.maybeMergeOptions: what an option says goes before the property, and
    that before the option's default."""
    found = dict(settings)
    for setting, option, default in table:
        value = getattr(options, option.replace("-", "_"))
        if value is not None:
            found[setting] = str(value)
        elif setting not in found and default is not None:
            found[setting] = str(default)
    return found


def make(kind: Any, options: Options, settings: Mapping[str, Any]) -> Any:
    """A producer or consumer at the brokers of the command line, whatever a file names. CliError
    for a setting that cannot be; those that librdkafka lacks are named and passed over."""
    from confluent_kafka import KafkaException

    config = {"log_level": 0, **settings}
    config |= {"bootstrap.servers": bootstrap(options), "error_cb": _Errors()}
    unused = []
    while True:
        try:
            client = kind(config)
            break
        except TypeError as error:  # what Python's binding takes is never a text
            raise CliError(str(error)) from None
        except KafkaException as error:
            said = error.args[0].str().strip()
            unknown = _NO_SUCH.fullmatch(said)
            if unknown is None or unknown[1] not in config:
                raise CliError(said) from None
            del config[unknown[1]]
            unused.append(unknown[1])
    if unused:
        listed = ", ".join(sorted(unused))
        print(f"WARN These configurations '[{listed}]' were supplied but are not used yet.",
              file=sys.stderr, flush=True)  # fmt: skip
    return client


class _Errors:
    """Says once that no broker can be reached; the client goes on trying."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, error: Any) -> None:
        if error.name() not in self._said:
            self._said.add(error.name())
            print(f"WARN {error.str()}", file=sys.stderr, flush=True)

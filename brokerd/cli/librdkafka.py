"""librdkafka's producer and consumer, which the console tools use, made by Kafka's settings."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException

from brokerd.cli.addresses import bootstrap_addresses
from brokerd.cli.client import address_text
from brokerd.cli.options import CliError, Options, read_properties

_NO_SUCH = re.compile(r'No such configuration property: "(.*)"', re.DOTALL)

Merged = tuple[str, str, object]
"""A setting, the option for it, and the default if neither is given."""


def pairs(texts: Iterable[str] | None) -> dict[str, str]:
    """`key=value` options, as --property gives them."""
    found = {}
    for text in texts or ():
        key, _, value = text.partition("=")
        found[key] = value
    return found


def bootstrap(options: Options) -> str:
    """The brokers that the options name. Raises UsageError."""
    return ",".join(map(address_text, bootstrap_addresses(options)))


def read_settings(file: str | None, given: list[str] | None) -> dict[str, str]:
    """The settings of a file, replaced by those of the command line."""
    return read_properties(file) | pairs(given)


def merged(
    settings: Mapping[str, str], options: Options, table: Iterable[Merged]
) -> dict[str, str]:
    """The option's value, else the property's, else the default (maybeMergeOptions)."""
    found = dict(settings)
    for setting, option, default in table:
        value = getattr(options, option.replace("-", "_"))
        if value is not None:
            found[setting] = str(value)
        elif setting not in found and default is not None:
            found[setting] = str(default)
    return found


def make_client(kind: Any, options: Options, settings: Mapping[str, Any]) -> Any:
    """A producer or consumer (`kind`) for the brokers that the command line names. Settings that
    librdkafka does not have are ignored with a warning. Raises CliError for an invalid setting."""
    config = {"log_level": 0, **settings}
    config |= {"bootstrap.servers": bootstrap(options), "error_cb": _print_once()}
    unused = []
    while True:
        try:
            client = kind(config)
            break
        except TypeError as error:  # settings that take a Python object, such as callbacks
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


def _print_once() -> Callable[[Any], None]:
    """Prints each kind of error once; the client goes on trying."""
    printed: set[str] = set()

    def on_error(error: Any) -> None:
        if error.name() not in printed:
            printed.add(error.name())
            print(f"WARN {error.str()}", file=sys.stderr, flush=True)

    return on_error

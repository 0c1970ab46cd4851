"""The listeners of a broker, from its settings: name, address, security protocol. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from monitoring.gateway.config_value import ConfigValue

_LISTENER = re.compile(r"(?P<name>[\w.-]+)://\[?(?P<host>[^\]/]*?)\]?:(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener of a broker.

    Attributes:
        bound: the address that the broker listens on; empty = every address.
        host, port: the address that clients get; None = they get none, as for a controller.
    """

    name: str
    bound: str
    host: str | None
    port: int | None
    protocol: str | None
    is_between_brokers: bool
    is_of_controllers: bool


def listeners(entries: Iterable[ConfigValue]) -> list[Listener]:
    """The listeners in the order of the setting `listeners`; empty if it is not reported."""
    values = {entry.name: entry.value or "" for entry in entries}
    bound = _addresses(values.get("listeners", ""))
    advertised = _addresses(values.get("advertised.listeners", "")) or bound
    controllers = _split(values.get("controller.listener.names", ""))
    protocols = _protocols(values.get("listener.security.protocol.map", ""))
    name_between_brokers = _between_brokers(values, protocols)
    found = []
    for name in dict.fromkeys([*bound, *advertised]):
        host, port = advertised.get(name, (None, None)) if name not in controllers else (None, None)
        found.append(
            Listener(
                name,
                ":".join(map(str, bound[name])) if name in bound else "",
                host,
                port,
                protocols.get(name.upper()),
                is_between_brokers=name == name_between_brokers,
                is_of_controllers=name in controllers,
            )
        )
    return found


def _between_brokers(values: Mapping[str, str], protocols: Mapping[str, str]) -> str:
    """The listener that brokers use: by its name, or by its security protocol."""
    named = values.get("inter.broker.listener.name", "")
    protocol = values.get("security.inter.broker.protocol", "")
    # If no listener is named, Kafka takes the one that has the name of the protocol.
    return named or (protocol if protocols.get(protocol) == protocol else "")


def _addresses(text: str) -> dict[str, tuple[str, int]]:
    found = (_LISTENER.fullmatch(part) for part in _split(text))
    return {each["name"]: (each["host"], int(each["port"])) for each in found if each}


def _protocols(text: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in _split(text))
    return {name.strip().upper(): protocol.strip() for name, _colon, protocol in pairs}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]

"""Listeners: what a broker binds, what it advertises to clients, and which one brokers use.

`listeners=INSIDE://127.0.0.1:9092,OUTSIDE://0.0.0.0:9093` names each address; the security protocol
of a name comes from `listener.security.protocol.map`. A client that asked one listener is answered
with the addresses of that same listener, so `advertised.listeners` must say an address that clients
can reach wherever the bound one (0.0.0.0, ::, or none) is not one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from brokerd.config.value_parsers import words

WILDCARDS = ("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0")
SERVED_PROTOCOLS = ("PLAINTEXT", "SSL")
PROTOCOLS = (*SERVED_PROTOCOLS, "SASL_PLAINTEXT", "SASL_SSL")
LISTENER_SETTINGS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
"""What says which listeners there are; one broker takes them while it runs, too."""
_LIMIT = re.compile(r"listener\.name\.[^.]+\.(max\.connections|max\.connection\.creation\.rate)")
_ENTRY = re.compile(r"([A-Za-z0-9_.-]+)://(\[[0-9a-fA-F:.%]*\]|[^:/\s\[\]]*):(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Listener:
    """One named address; port 0 means any free one, known once it is bound."""

    name: str
    protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


class ConnectionLimits(NamedTuple):
    """How many connections may be open, and how many may be accepted in a second."""

    connections: int
    creation_rate: float


def is_listener_limit(name: str) -> bool:
    return _LIMIT.fullmatch(name) is not None


def parse_protocol_map(text: str) -> dict[str, str]:
    """`NAME:PROTOCOL,…` as a dict. Raises ValueError."""
    protocols: dict[str, str] = {}
    for entry in words(text):
        name, separator, protocol = entry.partition(":")
        if not separator or not name or not protocol:
            raise ValueError(f"{entry!r} is not NAME:PROTOCOL")
        if protocol.upper() not in PROTOCOLS:
            raise ValueError(f"{entry!r} names no protocol of {', '.join(PROTOCOLS)}")
        protocols[name.upper()] = protocol.upper()
    return protocols


def parse_listeners(text: str, protocols: dict[str, str]) -> tuple[Listener, ...]:
    """The listeners in `text`. ValueError names every bad entry, and a name given twice."""
    found: list[Listener] = []
    problems: list[str] = []
    for entry in words(text):
        try:
            found.append(_parse_listener(entry, protocols))
        except ValueError as error:
            problems.append(str(error))
    names = [listener.name for listener in found]
    if len(set(names)) != len(names):
        problems.append(f"{text!r} names a listener twice")
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(found)


def _parse_listener(entry: str, protocols: dict[str, str]) -> Listener:
    match = _ENTRY.fullmatch(entry)
    if match is None or int(match.group(3)) > 65535:
        raise ValueError(f"{entry!r} is not NAME://host:port")
    name = match.group(1).upper()
    protocol = protocols.get(name)
    if protocol is None:
        raise ValueError(f"{name} has no entry in listener.security.protocol.map")
    if protocol not in SERVED_PROTOCOLS:
        raise ValueError(f"{name} asks for {protocol}; served are {', '.join(SERVED_PROTOCOLS)}")
    return Listener(name, protocol, match.group(2).strip("[]"), int(match.group(3)))


def listener_names(texts: Mapping[str, str]) -> set[str]:
    """The names of the listeners that would be advertised; also for settings that are invalid."""
    text = texts.get("advertised.listeners") or texts.get("listeners", "PLAINTEXT://")
    return {entry.partition("://")[0].strip().upper() for entry in text.split(",")}


def advertise(bound: tuple[Listener, ...], advertised: tuple[Listener, ...]) -> dict[str, Listener]:
    """The advertised listeners by name. ValueError if one is not bound or has a wildcard."""
    by_name = {listener.name: listener for listener in (advertised or bound)}
    for name, listener in by_name.items():
        if name not in {each.name for each in bound}:
            raise ValueError(f"{name} is advertised but is not in listeners")
        if listener.host in WILDCARDS:
            raise ValueError(
                f"{listener} cannot be advertised to clients: set advertised.listeners to an"
                " address that they can reach"
            )
    return by_name


def ports_taken(listeners: Iterable[Listener], admin_port: int) -> list[str]:
    """A sentence if two listeners have the same port, and one if a listener has the admin port."""
    problems = []
    ports = [each.port for each in listeners if each.port]
    if len(set(ports)) != len(ports):
        problems.append("listeners: two of them have the same port")
    if admin_port in ports:
        problems.append("brokerd.admin.port: it is also the port of a listener")
    return problems

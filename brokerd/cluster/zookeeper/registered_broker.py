"""A registered broker and its advertised listeners, as in `/brokers/ids/<id>`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An advertised listener: its name, its security protocol and where clients reach it."""

    listener: str
    security_protocol: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredBroker:
    """A registered broker. `epoch` is the czxid of its id node: a new one is a new incarnation."""

    id: int
    endpoints: dict[str, tuple[str, int]]
    rack: str | None = None
    epoch: int = -1

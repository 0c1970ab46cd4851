"""The operations of a multi in ZooKeeper, as values: all of a list happen or none."""

from dataclasses import dataclass

ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Create:
    """`sequence` appends ten digits to the path; `ephemeral` ties the node to the session."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """The multi happens only if the node has this version."""

    path: str
    version: int


Operation = Create | SetData | Delete | Check

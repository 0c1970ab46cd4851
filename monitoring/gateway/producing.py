"""Writes records to a topic: with acks=all and an idempotent producer, in limited time.

librdkafka writes in a separate process (librdkafka/produce_calls.py). Nothing is written a second
time after an unknown outcome: `WriteOutcome.is_unknown` says which records may have been written.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import request_timeouts
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.record_row import Headers

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to write. No `partition`: by its key; no `timestamp_ms`: the time of writing."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None

    @property
    def size_bytes(self) -> int:
        data = [self.key, self.value, *(value for _name, value in self.headers)]
        names = sum(len(name.encode()) for name, _value in self.headers)
        return sum(len(part) for part in data if part) + names


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The outcome of one record: acknowledged at `offset`, or not, because of `error`.

    `is_unknown`: there was no acknowledgement, but the record may have been written.
    `retriable`: as Kafka says, the same may succeed later.
    """

    partition: int = -1
    offset: int | None = None
    error: str = ""
    is_unknown: bool = False
    retriable: bool = False


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """Which records of one partition to copy: offsets from `first` to before `end`.

    `keeps_partition`: to the partition of the same number, else by key. One call ends after
    `records_max` records or `seconds`.
    """

    source: str
    partition: int
    first: int
    end: int
    target: str
    keeps_partition: bool
    records_max: int
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    """How far a copy came.

    All records before the offset `next_offset` of the source were acknowledged, and `beyond` later
    ones: these would be written twice if the copy goes on from there. `error` says why it
    stopped early.
    """

    next_offset: int
    written: tuple[WriteOutcome, ...] = ()  # acknowledged
    beyond: int = 0
    unknown: int = 0  # perhaps written
    error: str = ""
    retriable: bool = False


class Producing:
    """Writes records to topics of one cluster; each call opens new connections."""

    def __init__(self, settings: ClientSettings) -> None:
        """`settings` have their access token, if they need one."""
        self._settings = settings

    def write(
        self, topic: str, records: Sequence[NewRecord], compression: str = "none"
    ) -> list[WriteOutcome]:
        """The outcome of each record, in order. Never creates the topic.

        Raises NotFound, ClusterUnavailable or Refused if nothing was sent, and Unreadable if all
        outcomes are unknown.
        """
        arguments = (self._settings, topic, list(records), compression, request_timeouts.CHANGE_S)
        outcomes: list[WriteOutcome] = workers.call(
            "write",
            *arguments,
            limit_s=request_timeouts.CHANGE_S + request_timeouts.PRODUCER_GRACE_S,
        )
        return outcomes

    def copy(self, request: CopyRequest, source: ClientSettings | None = None) -> CopyOutcome:
        """Copy records to this cluster, with key, headers and timestamp; committed ones only.

        `source`: the cluster that they are read from, with its access token; None = this one.

        Raises NotFound, OffsetOutOfRange, ClusterUnavailable or Refused if nothing was sent, and
        Unreadable if the outcome is unknown.
        """
        limit_s = request.seconds + request_timeouts.CHANGE_S + request_timeouts.PRODUCER_GRACE_S
        arguments = (source or self._settings, self._settings, request, request_timeouts.CHANGE_S)
        outcome: CopyOutcome = workers.call("copy", *arguments, limit_s=limit_s)
        return outcome

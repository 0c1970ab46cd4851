"""Messages between the broker and a compaction worker: one JSON object a line.

broker → worker   a Job; then, for each SegmentGroupDone, true (swapped, go on) or false (give up)
worker → broker   any number of SegmentGroupDone, then one RoundDone
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Final
from uuid import uuid4

from brokerd.log.indexes.transaction_index import AbortedTxn

SHOWN_MAX: Final = 100
"""Bytes of what is no message that an error shows."""

Segments = list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a worker may use. `bytes_per_second` counts what is read and what is written."""

    map_bytes: int = 128 << 20
    load_factor: float = 0.9
    io_buffer_bytes: int = 512 << 10
    bytes_per_second: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Clean one log. `segments` are (base offset, next offset, size in bytes), oldest first: all
    closed ones up to the end of the dirty part, which begins at `dirty_start`. `producers` are
    (producer id, epoch, last data offset or -1). `aborted_later` are the transactions with records
    in these segments whose abort marker lies behind them. `name` is in the names of the files that
    are written, and no other job's."""

    directory: str
    segments: Segments
    dirty_start: int
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    producers: list[tuple[int, int, int]] = field(default_factory=list)
    aborted_later: list[AbortedTxn] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    name: str = field(default_factory=lambda: uuid4().hex[:12])

    def encode(self) -> bytes:
        return _line(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentGroupDone:
    """These segments are written into one, whose complete `.cleaned` files lie beside them."""

    bases: list[int]
    size_bytes: int

    def encode(self) -> bytes:
        return _line({"kind": "group", **asdict(self)})


@dataclass(slots=True, kw_only=True)
class RoundDone:
    """The round is over: cleaned up to `end_offset`, or `failed` has the error. `map_used` is the
    share of the map's memory that the keys took."""

    end_offset: int = -1
    failed: str = ""
    read_bytes: int = 0
    written_bytes: int = 0
    records_before: int = 0
    records_after: int = 0
    map_used: float = 0.0

    def encode(self) -> bytes:
        return _line({"kind": "round", **asdict(self)})


_MESSAGES: Final = {"group": SegmentGroupDone, "round": RoundDone}


def decode_job(line: bytes) -> Job:
    fields = json.loads(line)
    fields["limits"] = Limits(**fields["limits"])
    fields["aborted_later"] = [AbortedTxn(*each) for each in fields["aborted_later"]]
    return Job(**fields)


def decode_message(line: bytes) -> SegmentGroupDone | RoundDone:
    """A worker's message. Raises ValueError for anything else."""
    try:
        fields = json.loads(line)
        made: type[SegmentGroupDone | RoundDone] = _MESSAGES[fields.pop("kind")]
        return made(**fields)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{line[:SHOWN_MAX]!r} is no message of a worker") from error


def encode_answer(go_on: bool) -> bytes:
    return _line(go_on)


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"

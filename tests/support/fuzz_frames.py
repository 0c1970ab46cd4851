"""Frames that no client would send: requests of every API and version with values at their limits,
and such requests with their bytes changed. Pure: everything follows from one `random.Random`.
"""

import random
import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

from brokerd.protocol import messages
from brokerd.protocol.api_keys import ADVERTISED
from brokerd.protocol.records import LOG_APPEND_TIME, Record, encode_batch, write_crc
from brokerd.protocol.schema_writer import FieldShape, shapes

TOPICS = ("fuzz-a", "fuzz-b", "fuzz-compacted", "fuzz-timed")
GROUPS = ("fuzz-group", "fuzz-other")
STRINGS = (*TOPICS, *TOPICS, *GROUPS, "", "-", ".", "bad/name", "é\u0000ü", "x" * 300, "1",
           "__consumer_offsets", "range", "consumer", "retention.ms", "cleanup.policy")  # fmt: skip
MEMBERS = ("", "member", "member-1")
BOUNDS = {
    1: (-128, -1, 0, 1, 2, 127),
    2: (-32768, -2, -1, 0, 1, 2, 9, 32767),
    4: (-(1 << 31), -2, -1, 0, 1, 2, 100, 1000, 65_536, (1 << 31) - 1),
    8: (-(1 << 63), -5, -4, -3, -2, -1, 0, 1, 2, 1_700_000_000_000, (1 << 63) - 1),
}
NOW_MS = 1_700_000_000_000
_WIDTHS = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "error_code": 2, "timedelta_i32": 4,
           "timedelta_i64": 8, "datetime_i64": 8}  # fmt: skip
_PACKED = {1: ">b", 2: ">h", 4: ">i", 8: ">q"}
_HEAD = struct.Struct(">ihhi")
TIMES_MS = (-1, 0, 1, 20)
"""What a request may ask to wait for: longer says nothing more and only fills the purgatory."""
_TIMES = {"timeout", "max_wait", "session_timeout", "rebalance_timeout", "max_lifetime"}
_COUNTS = {"num_partitions": (-1, 0, 1, 2), "count": (0, 1, 3), "replication_factor": (-1, 0, 1, 9)}

SERVED = [
    (int(key), version)
    for key, (low, high) in ADVERTISED.items()
    for version in range(low, high + 1)
    if messages.request_type(key, version) is not None
]


class Frames:
    """An endless supply. `known` are ids of topics that exist, for what names them so."""

    def __init__(self, seed: int, known: tuple[UUID, ...] = ()) -> None:
        self._random = random.Random(seed)
        self._known = known or (UUID(int=1),)
        self._kept: list[bytes] = []

    def next(self) -> bytes:
        """One frame, size included: a request with odd values, or one with odd bytes."""
        draw = self._random
        if len(self._kept) < 2000 or draw.random() < 0.5:
            frame = self._request()
            if len(self._kept) >= 2000:
                self._kept[draw.randrange(2000)] = frame
            else:
                self._kept.append(frame)
            if draw.random() < 0.8:
                return frame
        return self._changed(bytearray(draw.choice(self._kept)))

    # ---- requests with odd values

    def _request(self) -> bytes:
        draw = self._random
        while True:
            key, version = draw.choice(SERVED)
            entity_type = messages.request_type(key, version)
            assert entity_type is not None
            client = draw.choice((None, "", "fuzz", "x" * 200))
            try:
                fields = self._fields(entity_type)
                return messages.encode_request(key, version, fields, draw.getrandbits(31), client)
            except (ValueError, struct.error):  # a null where this version has none
                continue

    def _fields(self, entity_type: type) -> dict[str, Any]:
        return {shape.name: self._value(shape) for shape in shapes(entity_type)}

    def _value(self, shape: FieldShape) -> Any:
        draw = self._random
        if shape.is_array:
            if shape.nullable and draw.random() < 0.1:
                return None
            count = draw.choice((0, 1, 1, 1, 2, 3))
            return [self._item(shape) for _ in range(count)]
        if shape.nullable and draw.random() < 0.15:
            return None
        return self._item(shape)

    def _item(self, shape: FieldShape) -> Any:
        draw = self._random
        if shape.entity is not None:
            return self._fields(shape.entity)
        kind, name = shape.kafka_type, shape.name
        if name in _COUNTS:
            return draw.choice(_COUNTS[name])
        if name in _TIMES:
            return draw.choice(TIMES_MS)
        if kind in _WIDTHS:
            return draw.choice(BOUNDS[_WIDTHS[kind]])
        return self._other(kind, name)

    def _other(self, kind: str, name: str) -> Any:
        draw = self._random
        if kind == "string":
            return draw.choice(MEMBERS if name == "member_id" else STRINGS)
        if kind == "bool":
            return draw.random() < 0.5
        if kind == "uuid":
            return draw.choice((*self._known, None, UUID(int=draw.getrandbits(128))))
        if kind == "records":
            return self._records()
        if kind == "float64":
            return draw.choice((0.0, -1.0, 1e300, float("nan")))
        if kind == "uint16":
            return draw.choice((0, 1, 65_535))
        return draw.randbytes(draw.choice((0, 1, 50)))

    def _records(self) -> bytes:
        """A batch: good, changed, or changed with a CRC that is right again."""
        draw = self._random
        records = [
            Record(0, NOW_MS, draw.choice((None, b"k")), draw.randbytes(draw.randrange(40)))
            for _ in range(draw.choice((1, 1, 3)))
        ]
        batch = bytearray(encode_batch(records, attributes=draw.choice((0, 0, 0, LOG_APPEND_TIME))))
        if draw.random() < 0.05:
            count = draw.choice((1000, 1 << 20, (1 << 31) - 1))
            struct.pack_into(">i", batch, 23, count - 1)
            struct.pack_into(">i", batch, 57, count)
            write_crc(batch)
        if draw.random() < 0.5:
            batch[draw.randrange(len(batch))] = draw.getrandbits(8)
            if draw.random() < 0.7:
                write_crc(batch)
        return bytes(batch) * draw.choice((1, 1, 1, 2))

    # ---- odd bytes

    def _changed(self, frame: bytearray) -> bytes:
        draw = self._random
        for _ in range(draw.choice((1, 1, 1, 2, 4))):
            draw.choice(_CHANGES)(draw, frame)
        if draw.random() < 0.95 and len(frame) >= 4:
            struct.pack_into(">i", frame, 0, len(frame) - 4)
        return bytes(frame)


Change = Callable[[random.Random, bytearray], None]


def _flip(draw: random.Random, frame: bytearray) -> None:
    if frame:
        frame[draw.randrange(len(frame))] ^= 1 << draw.randrange(8)


def _overwrite(draw: random.Random, frame: bytearray) -> None:
    """A number at its limits, somewhere."""
    width = draw.choice((1, 2, 4, 8))
    if len(frame) > 4 + width:
        at = draw.randrange(4, len(frame) - width)
        struct.pack_into(_PACKED[width], frame, at, draw.choice(BOUNDS[width]))


def _cut(draw: random.Random, frame: bytearray) -> None:
    if len(frame) > 12:
        del frame[draw.randrange(12, len(frame)) :]


def _drop(draw: random.Random, frame: bytearray) -> None:
    if len(frame) > 12:
        at = draw.randrange(4, len(frame))
        del frame[at : at + draw.choice((1, 1, 2, 4, 16))]


def _insert(draw: random.Random, frame: bytearray) -> None:
    at = draw.randrange(len(frame) + 1)
    frame[at:at] = draw.randbytes(draw.choice((1, 2, 4, 30)))


def _repeat(draw: random.Random, frame: bytearray) -> None:
    at = draw.randrange(len(frame) + 1)
    frame[at:at] = frame[at : at + draw.choice((1, 4, 40))] * draw.choice((1, 5))


def _long_varint(draw: random.Random, frame: bytearray) -> None:
    at = draw.randrange(len(frame) + 1)
    frame[at:at] = b"\xff" * draw.choice((1, 4, 5, 12)) + b"\x0f"


def _other_api(draw: random.Random, frame: bytearray) -> None:
    """The body of one API under the head of another."""
    if len(frame) >= _HEAD.size:
        key, version = draw.choice((*SERVED, (draw.randrange(-5, 90), draw.randrange(-2, 20))))
        struct.pack_into(">hh", frame, 4, key, version)


_CHANGES: tuple[Change, ...] = (
    _flip, _flip, _overwrite, _overwrite, _cut, _drop, _insert, _repeat, _long_varint, _other_api,
)  # fmt: skip

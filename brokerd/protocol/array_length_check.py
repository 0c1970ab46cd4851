"""Lengths and counts of a request, checked against its bytes before kio reads it.

kio sets memory aside for as many items as an array claims to have: a count of two thousand million
would end the process, without an exception. So every request is walked first, by functions compiled
from kio's message classes: no string may be longer, and no array have more items, than the bytes
that are left can hold. Nor may an array be null where the message does not say so, nor all of them
have more than ITEMS_MAX items. (No request that is served has arrays in tagged fields.)

kio also refuses unknown tagged fields, which a client of a later Kafka may send and Kafka skips,
and times of more than 292,000 years. A request with some is copied without those fields, with the
longest time there can be.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from struct import Struct
from typing import NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.schema_writer import NUMBERS, TIMES, FieldShape, shapes
from brokerd.protocol.varint import read_uvarint


@dataclass(slots=True)
class Progress:
    """Of one walk: how many items the request's arrays may still have, and what cannot be read as
    it is: (start, end, what takes its place)."""

    items_left: int
    replacements: list[tuple[int, int, bytes]] = field(default_factory=list)


Walk = Callable[[memoryview, int, Progress], int]
"""From the position of something to the one behind it."""

ITEMS_MAX = 200_000
"""Of all arrays of a request together. So many are served within a second or two, by threads and in
turns. A large broker has a fifth as many partitions."""

_SIZES = {"uuid": 16} | {name: layout.size for name, layout in (NUMBERS | TIMES).items()}
_LONGEST_MS = (2**63 - 1) // 1000
"""292,000 years: kio counts in microseconds, in 64 bits."""
_INT64 = Struct(">q")
_INT16 = Struct(">h")
_INT32 = Struct(">i")


def checked_request(entity_type: type, view: memoryview) -> memoryview:
    """The request's body, without what its class cannot read (see above).
    KafkaError(INVALID_REQUEST) unless lengths and counts fit its bytes."""
    progress = Progress(ITEMS_MAX)
    try:
        walker(entity_type).walk(view, 0, progress)
    except (IndexError, ValueError, KafkaError) as error:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"{entity_type.__name__} does not parse: {error}"
        ) from None
    return _without(view, progress.replacements) if progress.replacements else view


def _without(view: memoryview, replacements: list[tuple[int, int, bytes]]) -> memoryview:
    parts: list[memoryview | bytes] = []
    position = 0
    for start, end, kept in replacements:
        parts += (view[position:start], kept)
        position = end
    return memoryview(b"".join((*parts, view[position:])))


class Walker(NamedTuple):
    """How to pass one message, struct or field. `fixed_bytes` is its size where that never differs,
    else -1; `least_bytes` is the smallest size there can be."""

    walk: Walk
    fixed_bytes: int
    least_bytes: int


@cache
def walker(entity_type: type) -> Walker:
    flexible: bool = entity_type.__flexible__  # type: ignore[attr-defined]
    parts = [_field(shape, flexible) for shape in shapes(entity_type) if shape.tag is None]
    if flexible:
        parts.append(_tags(shapes(entity_type)))
    return _sequence(parts)


def _sequence(parts: list[Walker]) -> Walker:
    joined: list[Walker] = []
    for part in parts:
        if joined and part.fixed_bytes >= 0 and joined[-1].fixed_bytes >= 0:
            joined[-1] = _fixed(joined[-1].fixed_bytes + part.fixed_bytes)
        else:
            joined.append(part)
    if not joined:
        return _fixed(0)
    if len(joined) == 1:
        return joined[0]
    walks = [part.walk for part in joined]

    def walk(view: memoryview, position: int, progress: Progress) -> int:
        for each in walks:
            position = each(view, position, progress)
        return position

    return Walker(walk, -1, sum(part.least_bytes for part in joined))


def _field(shape: FieldShape, flexible: bool) -> Walker:
    item = _item(shape, flexible)
    if shape.is_array:
        return _array(item, flexible, shape.nullable)
    if shape.entity is not None and shape.nullable:
        return Walker(_nullable(item.walk), -1, 1)
    return item


def _item(shape: FieldShape, flexible: bool) -> Walker:
    if shape.entity is not None:
        return walker(shape.entity)
    if shape.kafka_type == "timedelta_i64":
        return Walker(_walk_long_time, -1, _INT64.size)
    if shape.kafka_type in _SIZES:
        return _fixed(_SIZES[shape.kafka_type])
    if flexible:
        return Walker(_walk_compact, -1, 1)
    layout = _INT16 if shape.kafka_type == "string" else _INT32
    return Walker(_sized(layout), -1, layout.size)


def _fixed(size: int) -> Walker:
    return Walker(lambda view, position, _: _within(view, position + size), size, size)


def _walk_long_time(view: memoryview, position: int, progress: Progress) -> int:
    end = _within(view, position + _INT64.size)
    (time_ms,) = _INT64.unpack_from(view, position)
    if not -_LONGEST_MS <= time_ms <= _LONGEST_MS:
        longest = _INT64.pack(max(-_LONGEST_MS, min(time_ms, _LONGEST_MS)))
        progress.replacements.append((position, end, longest))
    return end


def _within(view: memoryview, end: int) -> int:
    if end > len(view):
        raise ValueError("it ends too early")
    return end


def _sized(layout: Struct) -> Walk:
    def walk(view: memoryview, position: int, progress: Progress) -> int:
        size, position = _read_length(layout, view, position)
        return position if size < 0 else _within(view, position + size)

    return walk


def _walk_compact(view: memoryview, position: int, _progress: Progress) -> int:
    size, position = read_uvarint(view, position)
    return position if size == 0 else _within(view, position + size - 1)


def _array(item: Walker, flexible: bool, nullable: bool) -> Walker:
    walk_item, fixed_bytes, least_bytes = item.walk, item.fixed_bytes, max(item.least_bytes, 1)

    def walk(view: memoryview, position: int, progress: Progress) -> int:
        if flexible:
            count, position = read_uvarint(view, position)
            count -= 1
        else:
            count, position = _read_length(_INT32, view, position)
        if count < 0 and not nullable:
            raise ValueError("an array is null")
        count = max(count, 0)
        if count * least_bytes > len(view) - position:
            raise ValueError(f"an array of {count} items is longer than the request")
        progress.items_left -= count
        if progress.items_left < 0:
            raise ValueError(f"its arrays have more than {ITEMS_MAX} items")
        if fixed_bytes >= 0:
            return position + count * fixed_bytes
        for _ in range(count):
            position = walk_item(view, position, progress)
        return position

    return Walker(walk, -1, 1 if flexible else _INT32.size)


def _nullable(inner: Walk) -> Walk:
    def walk(view: memoryview, position: int, progress: Progress) -> int:
        return position + 1 if view[position] == 0xFF else inner(view, position + 1, progress)

    return walk


def _tags(fields: tuple[FieldShape, ...]) -> Walker:
    known = {shape.tag for shape in fields if shape.tag is not None}

    def walk(view: memoryview, position: int, progress: Progress) -> int:
        if view[position] == 0:
            return position + 1
        start = position
        count, position = read_uvarint(view, position)
        progress.items_left -= count
        if progress.items_left < 0:
            raise ValueError(f"it has more than {ITEMS_MAX} tagged fields and items")
        kept = []
        for _ in range(count):
            at = position
            tag, position = read_uvarint(view, position)
            size, position = read_uvarint(view, position)
            position = _within(view, position + size)
            if tag in known:
                kept.append(bytes(view[at:position]))
        if len(kept) < count:
            progress.replacements.append((start, position, b"".join((bytes([len(kept)]), *kept))))
        return position

    return Walker(walk, -1, 1)


def _read_length(layout: Struct, view: memoryview, position: int) -> tuple[int, int]:
    end = _within(view, position + layout.size)
    (number,) = layout.unpack_from(view, position)
    if number < -1:
        raise ValueError(f"a length of {number}")
    return number, end

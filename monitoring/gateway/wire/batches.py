"""Record batches of a Fetch response: which are committed, and their decompressed records. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from brokerd.errors import KafkaError
from brokerd.protocol.compression import decompress
from brokerd.protocol.records import HEADER_BYTES, MAGIC, BatchHeader, read_header
from brokerd.protocol.varint import read_varint

DECOMPRESSED_BYTES_MAX = 64 << 20  # of one batch
COMMITTED, ABORTED, CONTROL = "committed", "aborted", "control"
_ABORT, _CONTROL_KEY_BYTES = 0, 4


class AbortedTransaction(NamedTuple):
    """Records of this producer from this offset on were aborted, up to its abort marker."""

    producer_id: int
    first_offset: int


class Batch(NamedTuple):
    """A batch; `data` is what follows the header, as stored."""

    header: BatchHeader
    data: memoryview

    def records(self) -> bytes:
        """The decompressed records. Raises KafkaError if they are damaged or too large."""
        return bytes(decompress(self.header.codec, self.data, DECOMPRESSED_BYTES_MAX))


def committed_batches(data: memoryview, aborted: Sequence[AbortedTransaction]) -> Iterator[Batch]:
    """The complete batches in `data` without control batches and without aborted records.

    A batch that is cut off at the end is left out. Raises ValueError for anything but batches of
    format version 2.
    """
    return (batch for kind, batch in batches_by_kind(data, aborted) if kind == COMMITTED)


def batches_by_kind(
    data: memoryview, aborted: Sequence[AbortedTransaction]
) -> Iterator[tuple[str, Batch]]:
    """Each complete batch in `data` with its kind: COMMITTED, ABORTED or CONTROL.

    Raises ValueError as `committed_batches`.
    """
    upcoming = sorted(aborted, key=lambda each: each.first_offset)
    aborting: set[int] = set()
    for header, content in _batches(data):
        while upcoming and upcoming[0].first_offset <= header.last_offset:
            aborting.add(upcoming.pop(0).producer_id)
        kind = COMMITTED
        if header.is_control:
            kind = CONTROL
            if _is_abort(content):
                aborting.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in aborting:
            kind = ABORTED
        yield kind, Batch(header, content)


def batches_before(data: memoryview, end: int) -> tuple[memoryview, int | None]:
    """The complete batches in `data` that begin before the offset `end`, and the offset after them.

    The offset is None if there are none. Raises ValueError as `committed_batches`.
    """
    size, after = 0, None
    for header, _content in _batches(data):
        if header.base_offset >= end:
            break
        size += header.size_bytes
        after = header.last_offset + 1
    return data[:size], after


def _batches(data: memoryview) -> Iterator[tuple[BatchHeader, memoryview]]:
    position = 0
    while len(data) - position >= HEADER_BYTES:
        header = read_header(data, position)
        if header.magic != MAGIC or header.size_bytes < HEADER_BYTES:
            raise ValueError(f"a batch of format {header.magic} and {header.size_bytes} bytes")
        end = position + header.size_bytes
        if end > len(data):
            return
        yield header, data[position + HEADER_BYTES : end]
        position = end


def _is_abort(content: memoryview) -> bool:
    """Whether the one record of a control batch is an abort marker."""
    try:
        _size, at = read_varint(content, 0)
        _delta, at = read_varint(content, at + 1)
        _number, at = read_varint(content, at)
        key_bytes, at = read_varint(content, at)
    except (KafkaError, IndexError):
        return False
    key = bytes(content[at : at + key_bytes])
    return len(key) == _CONTROL_KEY_BYTES and int.from_bytes(key[2:], "big") == _ABORT

"""Produces that begin like an earlier one: recognised by their bytes, and not decoded.

A `ProduceMemo` has the bytes of a request up to its records and what was decoded from them.
"""

from collections.abc import Callable
from struct import Struct

from brokerd.log.log_validator.validate_messages import codec_max
from brokerd.log.log_validator.validate_size_and_crc import is_plain
from brokerd.protocol.api_keys import PRODUCE_VERSION_MAX, ApiKey, is_flexible
from brokerd.protocol.produce_request import ProduceRequest
from brokerd.protocol.produce_response import ResponseTemplate
from brokerd.replication.partition import Partition

MEMO_MAX_BYTES = 1024
"""A request that is longer up to its records (a client id may have 32 KiB, and unknown tagged
fields more) is looked at anew each time."""
MEMOS_MAX = 10_000
"""So many are kept for all connections together, which with the longest names take 35 MB;
besides, each connection has one."""
SWEEP_MIN = 64
"""Below this number of memos, those that are void are not looked for."""
_RECORDS_SIZE = Struct(">i")
_PREFIX_AT, _VERSION_AT = 12, 6
_NAME_AT, _FLEXIBLE_NAME_AT = 20, 17
"""Where the length of the topic's name is, counted from the version, if the client id is empty."""
_COUNT_AND_INDEX_BYTES, _INDEX_BYTES = 8, 4
_FLEXIBLE_FROM = next(v for v in range(PRODUCE_VERSION_MAX + 1) if is_flexible(ApiKey.PRODUCE, v))
_CLIENT_AND_VERSION = Struct(">h4xh")
_unpack_client = _CLIENT_AND_VERSION.unpack_from
_unpack_name_size = Struct(">h").unpack_from
_unpack_head = Struct(">ihhi").unpack_from
_unpack_size = _RECORDS_SIZE.unpack_from
_FLEXIBLE_TAIL = b"\x00\x00\x00"


class _Prefixes(dict[int, "Callable[[bytearray | memoryview, int], tuple[bytes]]"]):
    """By size, the function that reads a prefix of that size: in half the time of a slice."""

    def __missing__(self, size: int) -> Callable[[bytearray | memoryview, int], tuple[bytes]]:
        unpack = self[size] = Struct(f"{size}s").unpack_from
        return unpack


_unpack_prefix = _Prefixes()


class ProduceMemo:
    """A request for one partition up to its records (client, acks, topic, partition), and the
    template of its reply. It is valid for one generation of the partition: every change of the
    partition's state or settings begins a new one. So leadership, ISR and limits need no check per
    request."""

    __slots__ = (
        "acks", "checks_records", "codec_max", "flexible", "generation", "max_message_bytes",
        "partition", "prefix", "records_at", "template", "timeout_ms", "topic", "topic_partition",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        prefix: bytes,
        version: int,
        request: ProduceRequest,
        partition: Partition,
        checks_records: bool,
    ) -> None:
        """`checks_records`: whether the records of its batches are checked, or may be."""
        self.prefix = prefix
        self.records_at = 12 + len(prefix)
        self.version = version
        self.generation = partition.generation
        self.flexible = is_flexible(ApiKey.PRODUCE, version)
        self.acks = request.acks
        self.timeout_ms = request.timeout_ms
        self.partition = partition
        self.checks_records = checks_records
        self.topic = request.partitions[0].topic
        self.topic_partition = f"{self.topic}-{partition.index}"
        self.max_message_bytes = partition.log.config.max_message_bytes
        self.codec_max = int(codec_max(version))
        self.template = ResponseTemplate(version, self.topic, request.partitions[0].partition)

    def take(
        self,
        buffer: bytearray,
        view: memoryview,
        position: int,
        end: int,
        batches: list[memoryview],
    ) -> tuple[int, list[int]]:
        """Adds the batches of complete frames that begin like this memo and whose batch `is_plain`.
        Returns the position after the last one, and their correlation ids. Checked are size, API,
        version and prefix, then where the records are, then the batch's header and CRC."""
        prefix, version, flexible = self.prefix, self.version, self.flexible
        records_at, head_bytes = self.records_at, self.records_at + _RECORDS_SIZE.size
        max_message_bytes, codec_max = self.max_message_bytes, self.codec_max
        ids: list[int] = []
        while end - position >= head_bytes:
            size, api_key, api_version, correlation_id = _unpack_head(buffer, position)
            frame_end = position + 4 + size
            if (
                api_key != ApiKey.PRODUCE
                or api_version != version
                or frame_end > end
                or not buffer.startswith(prefix, position + 12, frame_end)
            ):
                break
            if flexible:
                records = _compact_records(buffer, view, position + records_at, frame_end)
            else:
                start = position + head_bytes
                if start > frame_end or _unpack_size(buffer, start - 4)[0] != frame_end - start:
                    break
                records = view[start:frame_end]
            if not is_plain(records, max_message_bytes, codec_max):
                break  # decoded and answered as any other
            batches.append(records)
            ids.append(correlation_id)
            position = frame_end
        return position, ids


class ProduceMemos:
    """The memos of all connections: a client that writes to many partitions comes back to each."""

    __slots__ = ("_by_prefix", "_sweep_at")

    def __init__(self) -> None:
        self._by_prefix: dict[bytes, ProduceMemo] = {}
        self._sweep_at = SWEEP_MIN

    def add(self, memo: ProduceMemo, frame: memoryview) -> None:
        """Keeps a memo of `frame` (without its size). Invalid memos hold their partitions: they are
        dropped before they are many."""
        if len(self._by_prefix) >= self._sweep_at:
            self._sweep()
        if _prefix_bytes(frame, _VERSION_AT - 4, len(frame)) == len(memo.prefix):
            self._by_prefix[memo.prefix] = memo

    def _sweep(self) -> None:
        kept = {
            prefix: memo
            for prefix, memo in self._by_prefix.items()
            if memo.generation == memo.partition.generation
        }
        self._by_prefix = kept if len(kept) < MEMOS_MAX else {}
        self._sweep_at = min(max(2 * len(kept), SWEEP_MIN), MEMOS_MAX)

    def find(
        self, last: ProduceMemo, buffer: bytearray, position: int, end: int
    ) -> ProduceMemo | None:
        """The memo that the frame at `position` begins like. Most often its prefix is as long as
        that of the connection's `last` one."""
        start = position + _PREFIX_AT
        size = len(last.prefix)
        if end - start >= size:
            found = self._by_prefix.get(_unpack_prefix[size](buffer, start)[0])
            if found is not None:
                return found
        size = _prefix_bytes(buffer, position + _VERSION_AT, end)
        return self._by_prefix.get(_unpack_prefix[size](buffer, start)[0]) if size else None


def _prefix_bytes(buffer: bytearray | memoryview, version_at: int, end: int) -> int:
    """The length of a frame's prefix in the usual form: no transactional id, no tagged fields, one
    topic. For any other frame the number has no meaning. 0 if it is too long or incomplete."""
    if end - version_at < _CLIENT_AND_VERSION.size:
        return 0
    version, client_bytes = _unpack_client(buffer, version_at)
    if client_bytes < 0:
        client_bytes = 0
    flexible = version >= _FLEXIBLE_FROM
    name_at = version_at + client_bytes + (_FLEXIBLE_NAME_AT if flexible else _NAME_AT)
    if name_at + 2 > end:
        return 0
    if not flexible:
        prefix_end = name_at + 2 + _unpack_name_size(buffer, name_at)[0] + _COUNT_AND_INDEX_BYTES
    else:
        first, second = buffer[name_at], buffer[name_at + 1]  # the varint is one more
        if first < 0x80:
            prefix_end = name_at + first + 1 + _INDEX_BYTES
        else:
            prefix_end = name_at + 1 + (first & 0x7F | second << 7) + 1 + _INDEX_BYTES
    size = prefix_end - version_at - (_PREFIX_AT - _VERSION_AT)
    return size if 0 < size <= MEMO_MAX_BYTES and prefix_end <= end else 0


def _compact_records(buffer: bytearray, view: memoryview, start: int, end: int) -> memoryview:
    """The records of a flexible frame; empty unless it ends with them and no tagged fields."""
    size = shift = 0
    while start < end and shift <= 28:
        byte = buffer[start]
        start += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    records_end = start + size - 1
    if records_end + 3 != end or buffer[records_end:end] != _FLEXIBLE_TAIL:
        return view[:0]
    return view[start:records_end]

"""The output queue of a connection: replies in order, as bytes and ranges of files.

Replies leave in the order of their requests, though they may be ready in another: each request has
a slot, and only slots at the head are released to be sent. Sends are partial; the queue remembers
how far it got. A file range above SENDFILE_MIN_BYTES goes by sendfile, with the bytes before it
sent MSG_MORE so that both share a packet; a smaller one is read and joined with its neighbours,
which is three times faster for small fetches. Small ranges are read only when their turn comes, so
a slow reader holds descriptors, not memory.
"""

import errno
import os
import socket
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from brokerd.metric_counters import LoopTimes

SENDFILE_MIN_BYTES = 64 * 1024
JOIN_MAX_BYTES = 512 * 1024
FLUSH_BYTES, SHORT_FLUSH_BYTES = 2 << 20, 256 << 10
"""One flush sends about so much, however fast the client reads; then other connections are served.
The smaller one while there are producers, which would wait 0.5 ms for 2 MiB; without any, the
larger saves a tenth of the processor time."""

HELD_BYTES_MAX = 1 << 20
"""A connection that holds more than this in replies that are due or wait is not served further
until it holds less; one reply of any size is always let in."""
SLOT_BYTES = 1 << 10
"""What a request that waits is counted as, besides the bytes given to `reserve`."""
RANGE_BYTES = 512
"""What a file range is counted as: it holds a descriptor and no memory."""
DISK_ERRORS: Final = frozenset(
    {errno.EIO, errno.EUCLEAN, errno.EBADMSG, errno.ENODATA, errno.EREMOTEIO, errno.ENXIO,
     errno.ENODEV, errno.ESTALE}
)  # fmt: skip
"""What sendfile says of a file that cannot be read; every other error is taken for the socket's."""

Parts = list[Any]
"""bytes-likes, and file ranges: `fd`, `position_bytes`, `size_bytes`, `path`, `is_cut`,
`release()`."""


class UnreadableError(OSError):
    """The log file `filename` could not be read: the disk's error, not that of the peer."""


class End:
    """A part of the output at which the connection ends when all before it is sent. For the queue
    it is a large file range that cannot be sent: `is_cut` raises the reason."""

    __slots__ = ("_reason",)
    size_bytes = 1 << 62

    def __init__(self, reason: str) -> None:
        self._reason = reason

    @property
    def is_cut(self) -> bool:
        """Raises ConnectionAbortedError: the turn of this part has come."""
        raise ConnectionAbortedError(self._reason)

    def release(self) -> None:
        """Nothing to give back."""


class Slot:
    """The place of one reply in the order of its connection; empty until `parts` is set."""

    __slots__ = ("held_bytes", "parts")

    def __init__(self, held_bytes: int) -> None:
        self.parts: Parts | None = None
        self.held_bytes = held_bytes


class OutputQueue:
    """The replies of one connection. `loop` knows whether there are producers."""

    __slots__ = (
        "_loop", "_ready", "_ready_bytes", "_sent_of_head", "_slots", "_socket", "held_bytes",
        "sent_bytes",
    )  # fmt: skip

    def __init__(self, sock: socket.socket, loop: LoopTimes) -> None:
        self._socket = sock
        self._loop = loop
        self._slots: deque[Slot] = deque()
        self._ready: deque[Any] = deque()
        self._ready_bytes = 0
        self._sent_of_head = 0
        self.held_bytes = 0
        self.sent_bytes = 0

    @property
    def unanswered(self) -> int:
        """How many requests wait for their reply or for one before it."""
        return len(self._slots)

    @property
    def unsent(self) -> int:
        """How many parts are ready and not yet sent."""
        return len(self._ready)

    def reserve(self, held_bytes: int = 0) -> Slot:
        """Reserves the slot of the next reply; until it is filled it counts as so many bytes."""
        slot = Slot(SLOT_BYTES + held_bytes)
        self.held_bytes += slot.held_bytes
        self._slots.append(slot)
        return slot

    def hold(self, slot: Slot, held_bytes: int) -> None:
        """Counts so many bytes more for a slot that is not filled."""
        slot.held_bytes += held_bytes
        self.held_bytes += held_bytes

    def fill(self, slot: Slot, parts: Parts) -> None:
        """Fills a slot; its reply, and those that waited behind it, can be sent."""
        self._put(slot, parts)
        slots = self._slots
        while slots and slots[0].parts is not None:
            head = slots.popleft()
            self._ready_bytes += head.held_bytes
            self._ready.extend(head.parts or ())

    def _put(self, slot: Slot, parts: Parts) -> None:
        held_bytes = _held_bytes(parts)
        self.held_bytes += held_bytes - slot.held_bytes
        slot.parts, slot.held_bytes = parts, held_bytes

    def add_uncounted(self, part: bytes) -> None:
        """Adds the next reply, which is no larger than its request and is not counted."""
        if self._slots:
            self._put(self.reserve(), [part])
        else:
            self._ready.append(part)

    def add_range(self, parts: Parts) -> None:
        """Adds the next reply: a file range between a few bytes, which are not counted."""
        if self._slots:
            self._put(self.reserve(), parts)
        else:
            self._ready.extend(parts)

    def add_parts(self, parts: Parts) -> None:
        """Adds the next reply, in parts."""
        if self._slots:
            self._put(self.reserve(), parts)
            return
        held_bytes = _held_bytes(parts)
        self.held_bytes += held_bytes
        self._ready_bytes += held_bytes
        self._ready.extend(parts)

    def flush(self) -> bool:
        """Sends as much as the socket takes, up to a limit; False while something is left. Raises
        OSError if the peer is gone or a file range was cut, UnreadableError if a file cannot be
        read."""
        ready = self._ready
        sent_before = self.sent_bytes
        flush_ends = sent_before + FLUSH_BYTES
        while ready:
            head = ready[0]
            if is_file(head) and head.size_bytes > SENDFILE_MIN_BYTES:
                flush_ends = sent_before + self._flush_bytes
                done = self._send_file(head, flush_ends)
            else:
                done = self._send_bytes()
            if not done or (self.sent_bytes >= flush_ends and ready):
                return False
        self.all_sent()
        return True

    def all_sent(self) -> None:
        """All that was ready was sent: its memory counts no more."""
        if self._ready_bytes:
            self.held_bytes -= self._ready_bytes
            self._ready_bytes = 0

    def clear(self) -> None:
        for slot in self._slots:
            release(slot.parts or ())
        release(self._ready)
        self._slots.clear()
        self._ready.clear()

    @property
    def _flush_bytes(self) -> int:
        return SHORT_FLUSH_BYTES if self._loop.has_producers else FLUSH_BYTES

    def _send_file(self, head: Any, flush_ends: int) -> bool:
        while self._sent_of_head < head.size_bytes:
            left_bytes = flush_ends - self.sent_bytes
            if left_bytes <= 0:
                return False
            require_uncut(head)
            wanted = min(head.size_bytes - self._sent_of_head, left_bytes)
            start = head.position_bytes + self._sent_of_head
            try:
                # What a short send leaves is tried again at once: the reader has often made room.
                sent = os.sendfile(self._socket.fileno(), head.fd, start, wanted)
            except BlockingIOError:
                return False
            except OSError as error:
                if error.errno in DISK_ERRORS:
                    raise unreadable(head, error) from error
                raise
            if sent == 0:
                raise ConnectionAbortedError("a log file ended inside a range that was promised")
            self._sent_of_head += sent
            self.sent_bytes += sent
        self._ready.popleft()
        self._sent_of_head = 0
        head.release()
        return True

    def _send_bytes(self) -> bool:
        chunks, more = self._gather()
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        flags = socket.MSG_MORE if more else 0
        try:
            sent = self._socket.send(data, flags)
        except BlockingIOError:
            sent = 0
        self.sent_bytes += sent
        if sent < len(data):
            self._ready.appendleft(memoryview(data)[sent:] if sent else data)
            return False
        return True

    def _gather(self) -> tuple[list[Any], bool]:
        """Takes what fits into one send; returns whether a large file range follows."""
        ready = self._ready
        chunks: list[Any] = []
        size = 0
        while ready and size < JOIN_MAX_BYTES:
            part = ready[0]
            if is_file(part):
                if part.size_bytes > SENDFILE_MIN_BYTES:
                    return chunks, type(part) is not End
                data = read_part(part, part.size_bytes, 0)
                if len(data) != part.size_bytes:
                    raise ConnectionAbortedError("a log file ended inside a promised range")
                part.release()
                part = data
            ready.popleft()
            chunks.append(part)
            size += len(part)
        return chunks, False


def read_part(part: Any, size_bytes: int, start: int) -> bytes:
    """Reads up to so many bytes of a file range from a position in it. Raises UnreadableError, and
    ConnectionAbortedError as `require_uncut`."""
    require_uncut(part)
    try:
        return os.pread(part.fd, size_bytes, part.position_bytes + start)
    except OSError as error:
        raise unreadable(part, error) from error


def unreadable(part: Any, error: OSError) -> UnreadableError:
    return UnreadableError(error.errno, error.strerror, part.path)


def require_uncut(part: Any) -> None:
    """Raises ConnectionAbortedError for a range cut off its log: other records may be there."""
    if part.is_cut:
        raise ConnectionAbortedError("the log was cut below records that were promised")


def _held_bytes(parts: Parts) -> int:
    held_bytes = 0
    for part in parts:
        kind = type(part)
        held_bytes += len(part) if kind is bytearray or kind is bytes else RANGE_BYTES
    return held_bytes


def release(parts: Iterable[Any]) -> None:
    """Gives back the file ranges among parts that are not sent."""
    for part in parts:
        if is_file(part):
            part.release()


def is_file(part: Any) -> bool:
    """Whether a part is a file range; else it is bytes."""
    return type(part) not in _BYTES


_BYTES = (bytes, bytearray, memoryview)

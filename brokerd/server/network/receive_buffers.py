"""Where bytes from clients land: one buffer shared by all connections, and frame buffers on loan
(Kafka's MemoryPool).

A receive is parsed to the end before the next one begins, so one shared buffer serves every
connection; what waits in it for the end of the loop's iteration ends at `shared_end`. Only the head
of a large frame that has not arrived whole is copied out, into a buffer of that frame's size; these
count against `queued.max.request.bytes`, and while it is exceeded no connection may begin a large
frame (`SocketServer.wait_for_memory`). What requests hold elsewhere counts, too (`lend`, `repay`);
where that alone exceeds it nothing is received. A few buffers are kept for reuse, because fresh
memory costs page faults.

Bytes that one receive brought after a request that waits are not counted: all other clients would
wait for that request. `SocketServer` limits their sum, together with the replies.
"""

from collections.abc import Callable

SHARED_BYTES = 1 << 20
SMALL_FRAME_BYTES = 1 << 16
"""A frame of at most this that has not arrived whole leads the next receive."""
WAITING_BYTES_MAX = 1 << 17
"""More than this does not wait in the shared buffer; the rest is room enough for a receive."""
ROUND_BYTES = 1 << 16
KEPT_MAX = 8
KEPT_BYTES_MAX = 2 << 20
FIRST_BYTES_MAX = SHARED_BYTES + ROUND_BYTES
"""A frame that claims more than this gets its memory as its bytes arrive, not on its word. A
batch of Kafka's default message.max.bytes fits."""
GROWTH_BYTES = 1 << 16
"""A frame that has got less has hardly grown."""


class ReceiveBuffers:
    """A negative limit means none. `on_returned` is called when a loan has ended."""

    __slots__ = (
        "_kept", "_on_returned", "held_bytes", "held_elsewhere_bytes", "limit_bytes", "shared",
        "shared_end", "shared_view",
    )  # fmt: skip

    def __init__(self, limit_bytes: int, on_returned: Callable[[], None]) -> None:
        self.shared = bytearray(SHARED_BYTES)
        self.shared_view = memoryview(self.shared)
        self.shared_end = 0
        self.limit_bytes = limit_bytes
        self.held_bytes = 0
        """Frame buffers on loan, and `held_elsewhere_bytes`: what requests hold elsewhere."""
        self.held_elsewhere_bytes = 0
        self._kept: list[bytearray] = []
        self._on_returned = on_returned

    @property
    def exhausted(self) -> bool:
        """Whether requests hold more memory than they may: then no large frame is begun."""
        return self.held_bytes >= self.limit_bytes >= 0

    @property
    def overfull(self) -> bool:
        """Whether requests that have arrived hold more than they may: then nothing is received."""
        return self.held_elsewhere_bytes >= self.limit_bytes >= 0

    def borrow(self, size: int) -> bytearray:
        """A buffer of at least `size` bytes, with old content, to be given back."""
        kept = self._kept
        for index in range(len(kept) - 1, -1, -1):
            if len(kept[index]) >= size:
                buffer = kept.pop(index)
                break
        else:
            buffer = bytearray(-(-size // ROUND_BYTES) * ROUND_BYTES)
        self.held_bytes += len(buffer)
        return buffer

    def give_back(self, buffer: bytearray) -> None:
        """Ends a loan; the caller's views of the buffer must not be used any more."""
        self.held_bytes -= len(buffer)
        if len(buffer) <= KEPT_BYTES_MAX and len(self._kept) < KEPT_MAX:
            self._kept.append(buffer)
        self._on_returned()

    def lend(self, size_bytes: int) -> None:
        """Counts memory that a request holds elsewhere, until `repay`."""
        self.held_bytes += size_bytes
        self.held_elsewhere_bytes += size_bytes

    def repay(self, size_bytes: int) -> None:
        """Ends the count of such memory, or of a part of it."""
        self.held_bytes -= size_bytes
        self.held_elsewhere_bytes -= size_bytes
        self._on_returned()


class LoanedFrame:
    """A frame that did not arrive whole, in a buffer on loan, to be returned by `give_back`.
    `grown_at` is when it had last grown by GROWTH_BYTES."""

    __slots__ = ("_buffers", "_filled", "_growth", "buffer", "grown_at", "size")

    def __init__(self, buffers: ReceiveBuffers, size: int, head: memoryview, now: float) -> None:
        """A frame of `size` bytes, of which those of `head` are there."""
        self._buffers = buffers
        self.size = size
        self.grown_at = now
        self._growth = 0
        self._filled = len(head)
        self.buffer = buffers.borrow(min(size, max(FIRST_BYTES_MAX, len(head))))
        self.buffer[: len(head)] = head

    def room(self) -> memoryview:
        return memoryview(self.buffer)[self._filled : min(self.size, len(self.buffer))]

    def ends_in(self, room: memoryview) -> bool:
        """Whether the frame is complete when this room is filled."""
        return self._filled + len(room) == self.size

    def took(self, count: int, now: float) -> bool:
        """So many bytes were received. Returns whether the frame is whole; else there is room."""
        self._filled += count
        self._growth += count
        if self._growth >= GROWTH_BYTES:
            self._growth, self.grown_at = 0, now
        if self._filled == self.size:
            return True
        if self._filled == len(self.buffer):
            self._grow()
        return False

    def _grow(self) -> None:
        buffer = self.buffer
        self.buffer = self._buffers.borrow(min(self.size, 2 * len(buffer)))
        self.buffer[: self._filled] = buffer
        self._buffers.give_back(buffer)

    def give_back(self) -> None:
        """The frame was served, or will not be completed."""
        self._buffers.give_back(self.buffer)

"""One client's connection (Kafka's KafkaChannel): bytes in, frames out to the router, replies back
in order.

Each time the socket is readable, the connection does one receive and handles all complete frames in
it before it sends anything: the Produce requests of a receive share one append per partition, and
their responses one send; a few small requests share both with those of other clients
(`loop_tick.py`). An incomplete frame waits: a small one in front of the next receive, a large one
in its own buffer, into which the rest is received directly.

The connection stops reading and serving while responses cannot be sent, or while waiting requests
and responses hold more than `output.HELD_BYTES_MAX`: a client costs no more memory than that and
one receive. While a request delays the following ones, it does not begin to read a large frame.

A client that has closed its side, or is gone altogether, still gets the answers to its earlier
requests, as from Kafka.
"""

from __future__ import annotations

import logging
import socket
from time import monotonic
from typing import TYPE_CHECKING

from brokerd.protocol.framing import FRAME_SIZE, SMALLEST_FRAME_BYTES, why_size_refused
from brokerd.server.network.output import HELD_BYTES_MAX, End, OutputQueue
from brokerd.server.network.receive_buffers import SMALL_FRAME_BYTES, WAITING_BYTES_MAX, LoanedFrame
from brokerd.server.network.sender import Sender
from brokerd.server.network.ssl_transport_layer import SslTransportLayer
from brokerd.server.requests.purgatory import Delayed

if TYPE_CHECKING:
    from brokerd.server.fetch.decoded_fetch_cache import FetchMemo
    from brokerd.server.network.socket_server import SocketServer
    from brokerd.server.router import Router

logger = logging.getLogger(__name__)

REPLIES_TOGETHER_BYTES_MAX = 1 << 14
"""Replies up to this size leave with those to other clients, at the end of the loop's iteration."""
FRAMES_PER_RECEIVE = 512
"""More frames than this in one receive would hold the loop too long: the next one is smaller."""


class Connection(Sender):
    """A client's connection, on a non-blocking socket in the event loop."""

    __slots__ = (
        "_buffers", "_frame", "_head", "_kept", "_muted_until_done", "_mutes", "_reading",
        "_receive_bytes", "_serve_planned", "_socket_server", "delayed_operations", "fetch_memo",
        "has_asked", "listener", "peer_host", "produce_memo", "produces_open", "tasks_open",
    )  # fmt: skip

    def __init__(
        self,
        sock: socket.socket | SslTransportLayer,
        output: OutputQueue,
        peer_host: str,
        listener: str,
        socket_server: SocketServer,
        router: Router,
    ) -> None:
        super().__init__(sock, output, router)
        self._socket_server = socket_server
        self._buffers = socket_server.buffers
        self._head = b""
        self._kept = False  # what is in _head is looked at before more is received
        self._frame: LoanedFrame | None = None
        self._receive_bytes = min(SMALL_FRAME_BYTES, router.receive_bytes_max)
        self._reading = False
        self._mutes = 0
        self._muted_until_done = self._serve_planned = False
        self.has_asked = False  # a request has come whole
        self.produces_open = 0  # batches queued, and Produces whose records are not safe yet
        self.tasks_open = 0  # requests not answered yet, except Produces and small Fetches
        self.peer_host = peer_host
        self.listener = listener
        self.produce_memo: object | None = None
        self.fetch_memo: FetchMemo | None = None
        self.delayed_operations: set[Delayed] = set()
        self.resume()

    def stands_still_since(self, moment: float) -> bool:
        """Whether its large frame has hardly grown since then, while the client was awaited."""
        return self._frame is not None and self._frame.grown_at < moment and self.awaits_client

    def is_idle_since(self, moment: float) -> bool:
        """Whether the client has neither sent nor read anything since then, though the broker
        waited for it: not while it is being answered, is muted, or waits for a receive buffer."""
        awaited = self._reading and not (self.output.unanswered or self._mutes)
        its_turn = self._writing or self._client_closed or awaited
        return self.active_at < moment and its_turn

    @property
    def awaits_client(self) -> bool:
        """Whether the broker waits for the client to send or to read."""
        return self._reading or self._writing

    @property
    def held_bytes(self) -> int:
        """The memory of its replies and of its requests that are not served yet."""
        return self.output.held_bytes + len(self._head)

    def is_blocked_since(self, moment: float) -> bool:
        """Whether replies have waited since then for the client to read them, or requests for the
        answer to an earlier request."""
        if len(self._head) > SMALL_FRAME_BYTES and self.active_at < moment:
            return True
        return self._writing and self.blocked_at < moment

    # ---- receiving

    def resume(self) -> None:
        """Reads again unless something else forbids it; kept requests are served first."""
        may_not = (
            self._reading or self._writing or self._mutes or self._serve_planned or self.closed
        )
        if may_not or self.output.held_bytes > HELD_BYTES_MAX:
            return
        if self._kept:
            self._serve_planned = True
            self._router.tick.connections_for_next_tick += 1
            self._loop.call_soon(self._serve_kept)
        else:
            self._reading = True
            self.active_at = monotonic()  # from now on the broker waits for the client
            if self._frame is not None:
                self._frame.grown_at = self.active_at
            self._loop.add_reader(self._fd, self._on_readable)

    def _serve_kept(self) -> None:
        self._serve_planned = False
        self._router.tick.connections_for_next_tick -= 1
        if not (self._writing or self._mutes or self.closed):
            if self._kept and self.output.held_bytes <= HELD_BYTES_MAX:
                self._on_readable()
            self.resume()

    def mute(self) -> None:
        """Stops reading, from the next receive on, until `unmute` was called as often as `mute`."""
        self._mutes += 1
        self._pause()

    def unmute(self) -> None:
        self._mutes -= 1
        self.resume()

    def mute_until_done(self) -> None:
        """Serves nothing more until what is open (`produces_open`, `tasks_open`) is done."""
        if not self._muted_until_done:
            self._muted_until_done = True
            self.mute()

    def unmute_if_done(self) -> None:
        """To be called when something that was open is done."""
        if self._muted_until_done and not (self.produces_open or self.tasks_open):
            self._muted_until_done = False
            self.unmute()

    def _wait_for_memory(self) -> None:
        self.mute()
        self._socket_server.wait_for_memory(self)

    def _pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._fd)

    def _on_readable(self) -> None:
        if self._frame is None and self._buffers.overfull and not self._kept:
            self._wait_for_memory()
            return
        self.active_at = start_s = monotonic()
        router = self._router
        router.tick.begin()
        self._receiving = True
        try:
            if self._frame is None:
                self._receive()
            else:
                self._receive_frame(self._frame)
        except Exception:
            logger.exception("a request of %s could not be served", self.peer_host)
            self.close("an unexpected error in the broker")
            return
        finally:
            self._receiving = False
        if router.has_unappended:
            router.tick.defer_until_append(self, start_s)
        else:
            if self.output.unsent:
                if self.output.held_bytes < REPLIES_TOGETHER_BYTES_MAX:
                    router.tick.send(self)
                else:
                    self.flush()
            router.times.receive_ends(self, start_s)
        if self.output.held_bytes > HELD_BYTES_MAX:
            self._pause()
        elif self._kept and self._reading:
            self._pause()
            self.resume()

    def _receive(self) -> None:
        buffers = self._buffers
        head = self._head
        start = filled = self._free_from(len(head))
        if head:
            filled += len(head)
            buffers.shared[start:filled] = head
            self._head = b""
            if self._kept:
                self._kept = False
                self._parse(start, filled)
                return
        most = self._receive_bytes
        if buffers.exhausted:  # what comes may have to wait for memory
            most = min(most, SMALL_FRAME_BYTES)
        try:
            count = self._socket.recv_into(buffers.shared_view[filled : filled + most])
        except OSError as error:
            self._head = head
            self._not_received(error)
            return
        if count == 0:
            self._client_left()
            return
        self._router.metrics.received_bytes += count
        self._parse(start, filled + count)

    def _free_from(self, head_bytes: int) -> int:
        """Where the shared buffer is free: behind what waits for the end of the iteration."""
        if not self._router.has_unappended:
            return 0
        if self._buffers.shared_end + head_bytes > WAITING_BYTES_MAX:
            self._router.tick.append_tick()
            return 0
        return self._buffers.shared_end

    def _receive_frame(self, frame: LoanedFrame) -> None:
        room = frame.room()
        into = [room]
        start = self._free_from(0)
        if frame.ends_in(room):
            into.append(self._buffers.shared_view[start : start + SMALL_FRAME_BYTES])
        try:
            count = self._socket.recvmsg_into(into)[0]
        except OSError as error:
            self._not_received(error)
            return
        if count == 0:
            self._client_left()
            return
        self._router.metrics.received_bytes += count
        behind = max(0, count - len(room))
        if frame.took(count - behind, self.active_at):
            self._serve_frame(frame)
            if behind and not self.closed:
                self._parse(start, start + behind)

    def _serve_frame(self, frame: LoanedFrame) -> None:
        """Serves a large frame that is whole. (One that would have to wait was not begun.)"""
        self._frame = None
        self.has_asked = True
        buffer = frame.buffer
        try:
            view = memoryview(buffer)
            if not self._router.frames(self, buffer, view, 0, frame.size, may_wait=False):
                raise RuntimeError("a large frame was received behind a request that waits")
        finally:
            frame.give_back()

    def _client_left(self) -> None:
        """The client has closed its side. Whether it still reads is seen when it is answered."""
        self._client_closed = True
        if self.output.unanswered or self.output.unsent or self._router.has_unappended:
            self.end("it has closed")
        else:
            self.close(None)

    def _not_received(self, error: OSError) -> None:
        if not isinstance(error, (BlockingIOError, InterruptedError)):
            self.close(f"{error.strerror or error}")

    def _parse(self, start: int, end: int) -> None:
        buffers = self._buffers
        buffer = buffers.shared
        buffers.shared_end = end
        frames_before = self._router.metrics.requests
        position = self._router.frames(self, buffer, buffers.shared_view, start, end)
        frames = self._router.metrics.requests - frames_before
        most = self._router.receive_bytes_max
        if position < end and not self.closed:
            self._keep_rest(buffer, position, end)
        if frames:
            self.has_asked = True
            served_bytes = position - start
            some = FRAMES_PER_RECEIVE * served_bytes // frames
            if self._kept:  # in each turn what is left is copied
                some = min(some, 2 * served_bytes)
            most = min(most, max(SMALL_FRAME_BYTES, some))
        self._receive_bytes = most

    def _keep_rest(self, buffer: bytearray, position: int, end: int) -> None:
        rest = end - position
        if rest < FRAME_SIZE.size:
            self._head = bytes(buffer[position:end])
            return
        size = FRAME_SIZE.unpack_from(buffer, position)[0] + FRAME_SIZE.size
        if not SMALLEST_FRAME_BYTES <= size <= self._router.frame_bytes_max:
            size_max = self._router.frame_bytes_max - FRAME_SIZE.size
            self.end(why_size_refused(size - FRAME_SIZE.size, size_max))
        elif size <= rest or size <= SMALL_FRAME_BYTES or rest < SMALLEST_FRAME_BYTES:
            self._kept = size <= rest  # whole: the router served others first
            self._head = bytes(buffer[position:end])
        elif self._router.puts_off(self, buffer, position):
            self._kept = rest > SMALL_FRAME_BYTES  # leaves no room to receive
            self._head = bytes(buffer[position:end])
        elif self._buffers.exhausted:
            self._kept = True
            self._head = bytes(buffer[position:end])
            self._wait_for_memory()
        else:
            head = memoryview(buffer)[position:end]
            self._frame = LoanedFrame(self._buffers, size, head, self.active_at)

    # ---- ending

    def end(self, reason: str) -> None:
        """Closes the connection when all requests before are answered; serves nothing more."""
        if self._router.has_unappended:
            self._router.tick.append_tick()  # its Produces may be among those that wait for its end
        self.tasks_open += 1
        self.mute_until_done()
        self._drop_frame()
        self.output.add_parts([End(reason)])
        if not self._receiving:
            self.flush()

    def close(self, reason: str | None) -> None:
        """Closes the connection and drops what waits on it; reason None: the client left."""
        if self.closed:
            return
        if reason is not None:
            logger.info("closing %s on %s: %s", self.peer_host, self.listener, reason)
        self.closed = True
        self._pause()
        if self._writing:
            self._loop.remove_writer(self._fd)
        for operation in tuple(self.delayed_operations):
            operation.cancel()
        self.output.clear()
        self._drop_frame()
        self._socket.close()
        self._socket_server.forget(self)

    def _drop_frame(self) -> None:
        if self._frame is not None:
            self._frame.give_back()
            self._frame = None

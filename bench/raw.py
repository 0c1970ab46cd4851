"""A load generator without a client library: ready-made frames, sent again and again.

It shows what the broker costs and not what a client costs. Responses are counted by their size,
which is the same for every request of a load, and their bytes are thrown away in the kernel (Linux'
MSG_TRUNC on TCP), so that not even a copy is paid for them. What came back is checked at both ends
of a load: the first response is decoded, and a last request says how far the log has come.
"""

import select
import socket
import struct
import time
from collections.abc import Sequence

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.compression import Codec
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.protocol.records import Record, encode_batch

TIMEOUT_S = 60
RECEIVE_BYTES = 8 << 20
_SIZE = struct.Struct(">i")
# Never written to: the kernel is told to throw away what it would put here.
_nowhere = bytearray(RECEIVE_BYTES)


class RawConnection:
    """One blocking connection. OSError after TIMEOUT_S without a byte."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self.socket.settimeout(None)  # the kernel's own timeout costs no poll before each call
        limit = struct.pack("ll", TIMEOUT_S, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Closes the socket."""
        self.socket.close()

    def ask(self, frame: bytes) -> bytes:
        """One request, its response without the length."""
        self.socket.sendall(frame)
        (size,) = _SIZE.unpack(self._exactly(_SIZE.size))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                piece = self.socket.recv(size - len(data))
            except BlockingIOError:
                raise TimeoutError(f"no answer for {TIMEOUT_S} s") from None
            if not piece:
                raise EOFError("the broker closed the connection")
            data += piece
        return bytes(data)

    def pipeline(
        self, frame: bytes, response_bytes: int, seconds: float, in_flight: int, most: float
    ) -> int:
        """Keeps `in_flight` copies of the request under way, for that long or until `most` were
        answered; how many were."""
        block = frame * in_flight
        self.socket.sendall(block)
        under_way = in_flight
        rest = answered = 0
        deadline = time.perf_counter() + seconds
        while under_way:
            wanted = under_way * response_bytes - rest
            done, rest = divmod(rest + _drop(self.socket, wanted), response_bytes)
            answered += done
            under_way -= done
            if done and answered < most and time.perf_counter() < deadline:
                self.socket.sendall(block[: done * len(frame)])
                under_way += done
        return answered

    def each(self, frames: Sequence[bytes], in_flight: int, until: float) -> int:
        """Sends each frame once, or those that begin before `until` (perf_counter); how many bytes
        their answers had, which may differ in size."""
        sent = received = 0
        for frame in frames:
            if time.perf_counter() > until:
                break
            if sent >= in_flight:
                received += self._skip_answer()
            self.socket.sendall(frame)
            sent += 1
        for _ in range(min(sent, in_flight)):
            received += self._skip_answer()
        return received

    def _skip_answer(self) -> int:
        (size,) = _SIZE.unpack(self._exactly(_SIZE.size))
        self._discard(size)
        return int(size)

    def _discard(self, size: int) -> None:
        while size:
            size -= _drop(self.socket, size)


def _drop(sock: socket.socket, most: int) -> int:
    """Throws away what has arrived, waiting for the first byte; how many bytes that was."""
    try:
        count = sock.recv_into(_nowhere, min(most, RECEIVE_BYTES), socket.MSG_TRUNC)
    except BlockingIOError:
        raise TimeoutError(f"no answer for {TIMEOUT_S} s") from None
    if not count:
        raise EOFError("the broker closed the connection")
    return count


def one_in_flight_each(
    connections: Sequence[RawConnection], frame: bytes, response_bytes: int, seconds: float
) -> int:
    """Every connection asks, waits for its answer, and asks again; how many were answered."""
    by_fd = {each.socket.fileno(): each.socket for each in connections}
    with select.epoll() as poll:
        for fd, sock in by_fd.items():
            poll.register(fd, select.EPOLLIN)
            sock.sendall(frame)
        return _answered(poll, by_fd, frame, response_bytes, seconds)


def _answered(
    poll: select.epoll,
    by_fd: dict[int, socket.socket],
    frame: bytes,
    response_bytes: int,
    seconds: float,
) -> int:
    rest = dict.fromkeys(by_fd, response_bytes)
    under_way = len(by_fd)
    answered = 0
    deadline = time.perf_counter() + seconds
    going_on = True
    while under_way:
        ready = poll.poll(TIMEOUT_S)
        if not ready:
            raise TimeoutError("no answer came")
        going_on = going_on and time.perf_counter() < deadline
        for fd, _ in ready:
            sock = by_fd[fd]
            count = _drop(sock, rest[fd])
            if count < rest[fd]:
                rest[fd] -= count
                continue
            rest[fd] = response_bytes
            answered += 1
            if going_on:
                sock.send(frame)
            else:
                under_way -= 1
    return answered


def batch(
    records: int, record_bytes: int, codec: Codec = Codec.NONE, values: Sequence[bytes] = ()
) -> bytes:
    """A batch of records of now (an old timestamp would be deleted by retention at once)."""
    now_ms = int(time.time() * 1000)
    some = values or [b"x" * record_bytes]
    made = [Record(0, now_ms, None, some[n % len(some)]) for n in range(records)]
    return bytes(encode_batch(made, codec=codec))


def produce_frame(topic: str, batch: bytes, partition: int = 0) -> bytes:
    """A Produce v7, acks=1, of one batch."""
    fields = {
        "acks": 1,
        "timeout": 30_000,
        "topic_data": [{"name": topic, "partition_data": [{"index": partition, "records": batch}]}],
    }
    return encode_request(ApiKey.PRODUCE, 7, fields, 1, "raw")


def fetch_frame(topic: str, max_bytes: int, offset: int = 0) -> bytes:
    """A Fetch v11."""
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": max_bytes}
    fields = {
        "replica_id": -1,
        "max_wait": 500,
        "min_bytes": 1,
        "max_bytes": max_bytes,
        "topics": [{"topic": topic, "partitions": [partition]}],
        "session_epoch": -1,
    }
    return encode_request(ApiKey.FETCH, 11, fields, 1, "raw")


def check_produced(response: bytes) -> int:
    """The base offset that a Produce v7 was given. Raises RuntimeError if it was refused."""
    answer = decode_response(ApiKey.PRODUCE, 7, response).responses[0].partition_responses[0]
    if answer.error_code:
        raise RuntimeError(f"produce was refused: {answer.error_code!r}")
    return int(answer.base_offset)


def check_fetched(response: bytes, least_bytes: int) -> None:
    """Raises RuntimeError unless a Fetch v11 brought at least so many bytes of records."""
    answer = decode_response(ApiKey.FETCH, 11, response)
    error = answer.error_code or answer.responses[0].partitions[0].error_code
    if error:
        raise RuntimeError(f"fetch was refused: {error!r}")
    if len(answer.responses[0].partitions[0].records or b"") < least_bytes:
        raise RuntimeError(f"fetch brought less than {least_bytes} bytes")

"""A load generator without a client library: ready-made frames, pipelined on one connection.

It shows what the broker costs and not what a client costs. Responses are counted by their size,
which is the same for every request of a load.
"""

import socket
import struct
import time

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.protocol.records import Record, encode_batch

TIMEOUT_S = 60
RECEIVE_BYTES = 1 << 20


class RawConnection:
    """One blocking connection that sends copies of one request."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(RECEIVE_BYTES)

    def close(self) -> None:
        self._socket.close()

    def ask(self, frame: bytes) -> bytes:
        """One request, its response without the length."""
        self._socket.sendall(frame)
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise EOFError("the broker closed the connection")
            data += piece
        return data

    def pipeline(self, frame: bytes, response_bytes: int, seconds: float, in_flight: int) -> int:
        """Keeps `in_flight` copies of the request under way; how many were answered in time."""
        block = frame * in_flight
        self._socket.sendall(block)
        under_way = in_flight
        rest = answered = 0
        deadline = time.perf_counter() + seconds
        while under_way:
            count = self._socket.recv_into(self._buffer)
            if not count:
                raise EOFError("the broker closed the connection")
            done, rest = divmod(rest + count, response_bytes)
            answered += done
            under_way -= done
            if done and time.perf_counter() < deadline:
                self._socket.sendall(block[: done * len(frame)])
                under_way += done
        return answered


def produce_frame(topic: str, records: int, record_bytes: int) -> bytes:
    """A Produce v7, acks=1, of one batch."""
    now_ms = int(time.time() * 1000)  # an old timestamp would be deleted by retention at once
    batch = bytes(encode_batch([Record(0, now_ms, None, b"x" * record_bytes)] * records))
    fields = {
        "acks": 1,
        "timeout": 30_000,
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}],
    }
    return encode_request(ApiKey.PRODUCE, 7, fields, 1, "raw")


def fetch_frame(topic: str, max_bytes: int) -> bytes:
    """A Fetch v11 from offset 0."""
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": max_bytes}
    fields = {
        "replica_id": -1,
        "max_wait": 500,
        "min_bytes": 1,
        "max_bytes": max_bytes,
        "topics": [{"topic": topic, "partitions": [partition]}],
        "session_epoch": -1,
    }
    return encode_request(ApiKey.FETCH, 11, fields, 1, "raw")


def check_produced(response: bytes) -> None:
    """Raises if a Produce v7 was refused."""
    answer = decode_response(ApiKey.PRODUCE, 7, response)
    error = answer.responses[0].partition_responses[0].error_code
    if error:
        raise RuntimeError(f"produce was refused: {error!r}")

"""TLS on a real socket pair: records of all sizes, ends of all kinds, readers that are slow."""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.ssl_configs import SslConfigs, Store
from brokerd.metric_counters import LoopTimes
from brokerd.security.ssl_engine_factory import server_context
from brokerd.server.network import ssl_transport_layer
from brokerd.server.network.output import UnreadableError
from brokerd.server.network.ssl_transport_layer import SslTransportLayer, TlsFailure
from brokerd.server.network.tls_connection import PIECE_BYTES, TlsOutputQueue
from tests.support.pki import Authority

TIMEOUT_S = 10


class Pair:
    """Our end, not yet shaken hands, and the client's, in a thread until it has."""

    def __init__(self, context: ssl.SSLContext, trust: str) -> None:
        self.raw, self.theirs = socket.socketpair()
        self.raw.setblocking(False)
        self.theirs.settimeout(TIMEOUT_S)
        self.ours = SslTransportLayer(self.raw, context, memoryview(bytearray(1 << 16)))
        self._trust = trust

    def shake_hands(self) -> ssl.SSLSocket:
        made: list[ssl.SSLSocket] = []
        trusting = ssl.create_default_context(cadata=self._trust)

        def connect() -> None:
            made.append(trusting.wrap_socket(self.theirs, server_hostname="localhost"))

        thread = threading.Thread(target=connect)
        thread.start()
        while not self.ours.is_open:
            with pytest.raises(BlockingIOError):
                self.ours.recv_into(memoryview(bytearray(100)))
        thread.join(TIMEOUT_S)
        return made[0]

    def received(self, size: int, room: int) -> bytes:
        """What comes, in receives of at most `room`, until there are `size` bytes."""
        view, data = memoryview(bytearray(room)), b""
        while len(data) < size:
            try:
                data += view[: self.ours.recv_into(view)]
            except BlockingIOError:
                continue
        return data


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture
def pair(authority: Authority) -> Iterator[Pair]:
    issued = authority.issue("broker")
    store = Store(certificates=issued.chain, key=issued.key)
    made = Pair(server_context(SslConfigs(store, Store())), authority.certificate)
    yield made
    made.ours.close()
    made.theirs.close()


def test_what_openssl_holds_is_told_when_the_receive_was_too_small(pair: Pair) -> None:
    client = pair.shake_hands()
    client.sendall(b"x" * 5000)
    view = memoryview(bytearray(1000))
    seen = []
    while sum(seen) < 5000:
        try:
            seen.append(pair.ours.recv_into(view))
        except BlockingIOError:
            continue
        assert pair.ours.has_more or sum(seen) == 5000
    assert set(seen) == {1000}


@pytest.mark.parametrize("step", [1000, ssl_transport_layer.STEP_BYTES])
@pytest.mark.parametrize("room", [100, 16_384, 1 << 20])
def test_bytes_arrive_whole_whatever_the_room(
    pair: Pair, room: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssl_transport_layer, "STEP_BYTES", step)  # less than a record, too
    client = pair.shake_hands()
    data = os.urandom(100_000)
    sender = threading.Thread(target=client.sendall, args=(data,))
    sender.start()
    assert pair.received(len(data), room) == data
    sender.join(TIMEOUT_S)


class Watched:
    """OpenSSL's memory on one side, which keeps the size of the most that was ever in it."""

    def __init__(self, memory: ssl.MemoryBIO) -> None:
        self._memory, self.most_bytes = memory, 0

    @property
    def pending(self) -> int:
        self.most_bytes = max(self.most_bytes, self._memory.pending)
        return self._memory.pending

    def write(self, data: memoryview) -> int:
        count = self._memory.write(data)
        assert self.pending >= count
        return count

    def read(self) -> bytes:
        assert self.pending
        return self._memory.read()


@pytest.mark.parametrize("room", [4096, 1 << 14, 1 << 16, 1 << 20])
def test_a_burst_leaves_no_more_memory_behind_than_a_few_records(pair: Pair, room: int) -> None:
    client = pair.shake_hands()
    ours: Any = pair.ours
    ours._ciphertext = memoryview(bytearray(1 << 18))
    ours._incoming, ours._outgoing = Watched(ours._incoming), Watched(ours._outgoing)
    client.setblocking(False)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    data, sent = os.urandom(1 << 20), 0
    with suppress(ssl.SSLWantWriteError):
        while sent < len(data):
            sent += client.send(data[sent : sent + (1 << 14)])
    assert sent > 1 << 17
    assert pair.received(sent, room)[:sent] == data[:sent]
    queue = TlsOutputQueue(pair.ours, LoopTimes())
    queue.add_parts([data])
    queue.flush()
    for memory in (ours._incoming, ours._outgoing):
        assert 1 << 14 < memory.most_bytes <= 1 << 16


def test_a_frame_and_what_follows_land_in_two_views(pair: Pair) -> None:
    client = pair.shake_hands()
    client.sendall(b"a" * 3000 + b"b" * 500)
    first, second = bytearray(3000), bytearray(1000)
    filled = 0
    while filled < 3500:
        views = [
            memoryview(first)[min(filled, 3000) :],
            memoryview(second)[max(filled - 3000, 0) :],
        ]
        try:
            filled += pair.ours.recvmsg_into([view for view in views if len(view)])[0]
        except BlockingIOError:
            continue
    assert (first, second[:500]) == (b"a" * 3000, b"b" * 500)


def test_an_orderly_end_comes_after_the_last_bytes(pair: Pair) -> None:
    client = pair.shake_hands()
    client.sendall(b"last")
    client.shutdown(socket.SHUT_WR)
    assert pair.received(4, 100) == b"last"
    assert pair.ours.recv_into(memoryview(bytearray(100))) == 0


@pytest.mark.parametrize("in_order", [True, False])
def test_a_client_that_stops_sending_can_still_be_sent_to(pair: Pair, in_order: bool) -> None:
    """It ends its side of TLS, or of the connection below."""
    client = pair.shake_hands()
    client.settimeout(0)
    if in_order:
        with suppress(ssl.SSLWantReadError):  # our end is not waited for
            client.unwrap()
    else:
        socket.socket.shutdown(client, socket.SHUT_WR)
    assert pair.ours.recv_into(memoryview(bytearray(100))) == 0
    pair.ours.write(b"answer")
    assert pair.ours.flush()
    client.settimeout(TIMEOUT_S)
    assert client.recv(100) == b"answer"


def test_a_client_without_tls_is_told_apart_by_its_first_byte(pair: Pair) -> None:
    pair.theirs.sendall(b"\x00\x00\x00\x0a\x00\x12")
    with pytest.raises(TlsFailure, match="does not speak TLS"):
        pair.ours.recv_into(memoryview(bytearray(100)))


def test_a_client_that_leaves_before_it_said_anything_is_no_failure(pair: Pair) -> None:
    pair.theirs.close()
    assert pair.ours.recv_into(memoryview(bytearray(100))) == 0


class Range:
    """A range of a file that counts its releases."""

    def __init__(self, path: Path, position: int, size: int, flags: int = os.O_RDONLY) -> None:
        self.path = str(path)
        self.fd = os.open(path, flags)
        self.position_bytes, self.size_bytes, self.released = position, size, 0

    is_cut = False

    def release(self) -> None:
        self.released += 1
        os.close(self.fd)


def test_replies_and_ranges_of_files_are_sent_piece_by_piece_to_a_slow_reader(
    pair: Pair, tmp_path: Path
) -> None:
    client = pair.shake_hands()
    content = os.urandom(3 * PIECE_BYTES)
    path = tmp_path / "segment"
    path.write_bytes(content)
    queue = TlsOutputQueue(pair.ours, LoopTimes())
    part = Range(path, 100, len(content) - 200)
    large = bytes(PIECE_BYTES + 5)
    queue.add_parts([b"head", part, large, b"tail"])
    expected = b"head" + content[100:-100] + large + b"tail"
    assert not queue.flush()
    assert part.released == 0
    data = b""
    while len(data) < len(expected):
        data += client.recv(50_000)
        queue.flush()
    assert data == expected
    assert part.released == 1
    assert queue.flush()


def test_a_file_that_became_shorter_or_cannot_be_read_ends_the_connection(
    pair: Pair, tmp_path: Path
) -> None:
    client = pair.shake_hands()
    path = tmp_path / "segment"
    path.write_bytes(b"short")
    queue = TlsOutputQueue(pair.ours, LoopTimes())
    queue.add_parts([Range(path, 0, 100)])
    with pytest.raises(ConnectionAbortedError):
        queue.flush()
    queue.clear()
    queue.add_parts([Range(path, 0, 100, os.O_WRONLY)])
    with pytest.raises(UnreadableError, match="segment"):
        queue.flush()
    queue.clear()
    client.close()


def test_an_end_right_behind_what_fills_the_buffers_is_told(pair: Pair) -> None:
    client = pair.shake_hands()
    client.sendall(bytes(100))
    client.setblocking(False)
    with suppress(ssl.SSLWantReadError, OSError):
        client.unwrap()  # it says that it ends, and leaves the TCP connection open
    views = [memoryview(bytearray(100)), memoryview(bytearray(50))]
    assert pair.ours.recvmsg_into(views) == (100,)
    assert pair.ours.has_more
    assert pair.ours.recvmsg_into(views) == (0,)

"""The output queue on a real socket pair and real files."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.output import (
    FLUSH_BYTES,
    SENDFILE_MIN_BYTES,
    SHORT_FLUSH_BYTES,
    SLOT_BYTES,
    OutputQueue,
    UnreadableError,
)


class Range:
    """A range of a file that counts its releases."""

    def __init__(self, path: Path, position: int, size: int, flags: int = os.O_RDONLY) -> None:
        self.path = str(path)
        self.fd = os.open(path, flags)
        self.position_bytes = position
        self.size_bytes = size
        self.is_cut = False
        self.released = 0

    def release(self) -> None:
        self.released += 1
        os.close(self.fd)


@pytest.fixture
def pair() -> Iterator[tuple[OutputQueue, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(10)
    with ours, theirs:
        yield OutputQueue(ours, LoopTimes()), theirs


def drain(queue: OutputQueue, peer: socket.socket, size: int) -> bytes:
    """Sends and receives in turn until `size` bytes have come."""
    data = b""
    while len(data) < size:
        queue.flush()
        data += peer.recv(1 << 16)
    return data


def test_replies_leave_in_the_order_of_their_slots(
    pair: tuple[OutputQueue, socket.socket],
) -> None:
    queue, peer = pair
    first, second = queue.reserve(), queue.reserve()
    queue.add_uncounted(b"third")
    queue.fill(second, [b"second "])
    assert queue.flush()
    assert queue.unsent == 0
    assert queue.unanswered == 3
    queue.fill(first, [b"fi", b"rst "])
    assert queue.flush()
    assert peer.recv(100) == b"first second third"
    assert queue.unanswered == 0


def test_what_is_held_counts_until_it_is_sent(pair: tuple[OutputQueue, socket.socket]) -> None:
    queue, peer = pair
    waiting = queue.reserve(1000)
    assert queue.held_bytes == 1000 + SLOT_BYTES
    queue.add_uncounted(b"x" * 70)  # behind the one that waits
    queue.add_parts([b"y" * 100])
    assert queue.held_bytes == 1000 + SLOT_BYTES + 170
    assert queue.flush()
    queue.fill(waiting, [b"z" * 5])
    assert queue.held_bytes == 175
    assert queue.flush()
    assert queue.held_bytes == 0
    queue.add_parts([b"z" * 5_000_000])
    assert not queue.flush()
    assert queue.held_bytes == 5_000_000
    drain(queue, peer, 5_000_000)
    queue.flush()
    assert queue.held_bytes == 0


@pytest.mark.parametrize("size", [10, SENDFILE_MIN_BYTES, SENDFILE_MIN_BYTES + 1, 3_000_000])
def test_files_of_any_size_are_sent_between_bytes(
    pair: tuple[OutputQueue, socket.socket], tmp_path: Path, size: int
) -> None:
    queue, peer = pair
    content = os.urandom(size + 20)
    path = tmp_path / "log"
    path.write_bytes(content)
    piece = Range(path, 7, size)
    queue.add_parts([b"head", piece, b"tail"])
    whole = drain(queue, peer, size + 8)
    assert whole == b"head" + content[7 : 7 + size] + b"tail"
    assert piece.released == 1
    assert queue.flush()


def test_a_full_socket_keeps_the_rest_in_order(
    pair: tuple[OutputQueue, socket.socket],
) -> None:
    queue, peer = pair
    parts = [bytes([number]) * 100_000 for number in range(40)]
    for part in parts:
        queue.add_uncounted(part)
    assert not queue.flush()
    assert drain(queue, peer, 4_000_000) == b"".join(parts)
    assert queue.flush()


def test_what_is_dropped_is_released(
    pair: tuple[OutputQueue, socket.socket], tmp_path: Path
) -> None:
    queue, _ = pair
    path = tmp_path / "log"
    path.write_bytes(bytes(100))
    ready, waiting = Range(path, 0, 10), Range(path, 0, 10)
    queue.add_parts([b"x", ready])
    queue.reserve()
    queue.add_parts([waiting])
    queue.clear()
    assert (ready.released, waiting.released) == (1, 1)
    assert (queue.unsent, queue.unanswered) == (0, 0)


@pytest.mark.parametrize("size", [100, SENDFILE_MIN_BYTES * 2])
def test_a_file_that_ends_inside_its_range_ends_the_connection(
    pair: tuple[OutputQueue, socket.socket], tmp_path: Path, size: int
) -> None:
    queue, _ = pair
    path = tmp_path / "log"
    path.write_bytes(bytes(size // 2))
    queue.add_parts([b"head", Range(path, 0, size)])
    with pytest.raises(ConnectionAbortedError):
        queue.flush()
    queue.clear()


def test_a_file_that_cannot_be_read_is_told_from_a_peer_that_is_gone(
    pair: tuple[OutputQueue, socket.socket], tmp_path: Path
) -> None:
    queue, peer = pair
    path = tmp_path / "log"
    path.write_bytes(bytes(SENDFILE_MIN_BYTES * 2))
    queue.add_parts([b"head", Range(path, 0, 100, os.O_WRONLY)])
    with pytest.raises(UnreadableError) as raised:
        queue.flush()
    assert raised.value.filename == str(path)
    queue.clear()
    peer.close()
    queue.add_parts([Range(path, 0, SENDFILE_MIN_BYTES * 2)])
    with pytest.raises(BrokenPipeError):
        queue.flush()
    queue.clear()


@pytest.mark.parametrize("size", [100, SENDFILE_MIN_BYTES * 2])
def test_a_range_below_which_the_log_was_cut_ends_the_connection(
    pair: tuple[OutputQueue, socket.socket], tmp_path: Path, size: int
) -> None:
    queue, peer = pair
    path = tmp_path / "log"
    path.write_bytes(bytes(size))
    cut = Range(path, 0, size)
    cut.is_cut = True
    queue.add_parts([cut])
    with pytest.raises(ConnectionAbortedError, match="was cut"):
        queue.flush()
    queue.clear()
    assert cut.released == 1
    peer.setblocking(False)
    with pytest.raises(BlockingIOError):
        peer.recv(1)


@pytest.mark.parametrize(
    ("in_file", "has_producers"), [(True, False), (False, False), (True, True)]
)
def test_one_turn_sends_no_more_than_its_share_however_fast_the_other_end_reads(
    tmp_path: Path, in_file: bool, has_producers: bool
) -> None:
    loop = LoopTimes()
    if has_producers:
        loop.produced_s = loop.woke_s
    flush_bytes = SHORT_FLUSH_BYTES if has_producers else FLUSH_BYTES
    path = tmp_path / "sink"
    with path.open("wb+") as sink:

        class Fast:
            """Takes whatever it is given, as the socket of a reader that keeps up does."""

            def fileno(self) -> int:
                return sink.fileno()

            def send(self, data: bytes, flags: int = 0) -> int:
                return os.write(sink.fileno(), data)

        source = tmp_path / "log"
        source.write_bytes(bytes(4 * flush_bytes))
        queue = OutputQueue(Fast(), loop)  # type: ignore[arg-type]
        parts: list[Range | bytes] = [bytes(flush_bytes // 4)] * 16
        if in_file:
            size = 2 * flush_bytes
            parts = [Range(source, position, size) for position in (0, size)]
        queue.add_parts(parts)
        turns = []
        while not queue.flush():
            turns.append(queue.sent_bytes)
        turns.append(queue.sent_bytes)
    assert turns == [flush_bytes, 2 * flush_bytes, 3 * flush_bytes, 4 * flush_bytes]

"""Sends changed frames to a live broker and looks how it takes them.

    .venv/bin/python -m tests.support.fuzz --frames 1000000

starts ZooKeeper and a broker of its own, sends that many, and says what became of them: how many
were answered, ended their connection or were left waiting, and what memory, sockets and parked
requests the broker had before and after. It ends with 1 if the broker died, hung or wrote a
traceback. The same seed sends the same frames.
"""

import argparse
import random
import selectors
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.fuzz_frames import GROUPS, TOPICS, Frames
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

SLOTS = 16
PATIENCE_S = 0.1
"""A request that is not answered by then waits for something; its connection is left."""
TIDY_EVERY = 50_000
SETTINGS = {
    "auto.create.topics.enable": "false",
    "socket.request.max.bytes": "2000000",
    "offsets.retention.minutes": "1",
    "group.min.session.timeout.ms": "1",
    "log.retention.ms": "-1",
}
_RESET = struct.pack("ii", 1, 0)


class Slot:
    """One connection and the frame that it has under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.answer = bytearray()
        self.frame = b""
        self.deadline = 0.0
        self.sent = 0

    def send(self, frame: bytes, draw: random.Random) -> None:
        self.frame, self.answer = frame, bytearray()
        self.deadline = time.monotonic() + PATIENCE_S
        self.sent += 1
        way = draw.random()
        half = len(frame) // 2 if way < 0.05 else 0
        if half:
            self.socket.sendall(frame[:half])
        self.socket.sendall(frame[half:])
        if 0.05 < way < 0.07:
            self.socket.shutdown(socket.SHUT_WR)
        elif 0.07 < way < 0.09:  # a reset, whatever the broker is doing with it
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            raise ConnectionResetError

    def receive(self) -> str | None:
        """'answered', 'closed', or None for more to come."""
        data = self.socket.recv(1 << 16)
        if not data:
            return "closed"
        self.answer += data
        if len(self.answer) < 4:
            return None
        (size,) = struct.unpack_from(">i", self.answer)
        if len(self.answer) < 4 + size:
            return None
        if self.answer[4:8] != self.frame[8:12]:
            raise AssertionError(f"the answer to another request than {self.frame.hex()}")
        return "answered"

    @property
    def goes_on(self) -> bool:
        """Whether the next frame would be taken for one: this one's size was right."""
        size = struct.unpack_from(">i", self.frame)[0] if len(self.frame) >= 4 else -1
        return size == len(self.frame) - 4 and self.sent < 100


class Fuzzer:
    """Frames to one broker over SLOTS connections."""

    def __init__(self, port: int, seed: int) -> None:
        self._port = port
        self._draw = random.Random(seed + 1)
        self._selector = selectors.DefaultSelector()
        self._slots: set[Slot] = set()
        self._frames = Frames(seed, prepare(port))
        self.fates: Counter[str] = Counter()

    def run(self, count: int) -> None:
        """Sends `count` frames and waits for what becomes of them."""
        left = count
        while left or self._slots:
            while left and len(self._slots) < SLOTS:
                slot = Slot(self._port)
                self._slots.add(slot)
                self._selector.register(slot.socket, selectors.EVENT_READ, slot)
                left -= self._send(slot)
            for key, _ in self._selector.select(PATIENCE_S / 4):
                left -= self._look(key.data, left)
            now = time.monotonic()
            for slot in [each for each in self._slots if each.deadline < now]:
                self._end(slot, "left waiting")

    def _send(self, slot: Slot) -> int:
        try:
            slot.send(self._frames.next(), self._draw)
        except (ConnectionResetError, BrokenPipeError, OSError):
            self._end(slot, "reset")
        return 1

    def _look(self, slot: Slot, left: int) -> int:
        """How many frames were sent: 1 if the connection goes on with another."""
        try:
            fate = slot.receive()
        except ConnectionResetError:
            fate = "closed"
        if fate is None:
            return 0
        if fate == "answered" and left and slot.goes_on:
            self.fates[fate] += 1
            return self._send(slot)
        self._end(slot, fate)
        return 0

    def _end(self, slot: Slot, fate: str) -> None:
        self.fates[fate] += 1
        self._slots.discard(slot)
        self._selector.unregister(slot.socket)
        slot.socket.close()


def prepare(port: int) -> tuple[UUID, ...]:
    """Makes the topics that frames name; their ids."""
    with Wire(port) as wire:
        configs = {
            "fuzz-compacted": [{"name": "cleanup.policy", "value": "compact"}],
            "fuzz-timed": [{"name": "message.timestamp.type", "value": "LogAppendTime"}],
        }
        topics: list[dict[str, Any]] = [
            {"name": name, "num_partitions": 2, "replication_factor": 1,
             "configs": configs.get(name, [])} for name in TOPICS
        ]  # fmt: skip
        wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": topics, "timeout": 10_000})
        wanted = [{"topic_id": None, "name": name} for name in TOPICS]
        told = wire.ask(ApiKey.METADATA, 12, {"topics": wanted})
        return tuple(each.topic_id for each in told.topics if each.topic_id)


def tidy(port: int) -> None:
    """Takes away topics and groups that frames have made, so that what grows is a leak."""
    with Wire(port) as wire:
        found = wire.ask(ApiKey.METADATA, 8, {"topics": None}).topics
        made = [each.name for each in found if each.name not in TOPICS and not each.is_internal]
        wire.ask(ApiKey.DELETE_TOPICS, 5, {"topic_names": made, "timeout": 30_000})
        groups = [each.group_id for each in wire.ask(ApiKey.LIST_GROUPS, 2, {}).groups]
        made = [each for each in groups if each not in GROUPS]
        wire.ask(ApiKey.DELETE_GROUPS, 1, {"groups_names": made})
    prepare(port)


def descriptors(broker: Brokerd) -> Counter[str]:
    """Open descriptors of the broker by kind."""
    assert broker.process is not None
    folder = Path(f"/proc/{broker.process.pid}/fd")
    kinds: Counter[str] = Counter()
    for each in folder.iterdir():
        try:
            kinds[str(each.readlink()).partition(":")[0].rpartition(".")[2][-12:]] += 1
        except FileNotFoundError:
            continue
    return kinds


def resident_bytes(broker: Brokerd) -> int:
    assert broker.process is not None
    return int(Path(f"/proc/{broker.process.pid}/statm").read_text().split()[1]) * 4096


def main() -> int:
    parser = argparse.ArgumentParser(description="Sends changed frames to a broker of its own.")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with ZooKeeper.started(directory / "zookeeper") as zookeeper:
            connect = zookeeper.connect("/fuzz")
            with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
                return _fuzz(cluster.brokers[0], options.frames, options.seed)


def _fuzz(broker: Brokerd, frames: int, seed: int) -> int:
    print(f"seed {seed}", flush=True)
    fuzzer = Fuzzer(broker.port, seed)
    sent = 0
    while sent < frames:
        count = min(TIDY_EVERY, frames - sent)
        fuzzer.run(count)
        sent += count
        tidy(broker.port)
        mib = resident_bytes(broker) / (1 << 20)
        kinds = dict(sorted(descriptors(broker).items()))
        print(f"{sent} {mib:.1f} MiB {kinds} {dict(fuzzer.fates)}", flush=True)
        if "Traceback" in broker.said():
            break
    said = broker.said()
    if "Traceback" in said:
        print(said[said.index("Traceback") - 500 :][:4000])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

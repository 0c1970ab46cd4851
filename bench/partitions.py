"""One brokerd with many partitions: how long things take, and how long the event loop is held.

    python -m bench.partitions [--partitions 40000] [--directory DIR]

Makes the topics through the protocol, writes one batch into every partition, and stops, starts and
kills the broker. After each step: seconds, the broker's CPU seconds and memory, and the longest
that an ApiVersions sent every few milliseconds had to wait (it needs next to no work, so that is
how long the broker was busy with something else).
"""

import argparse
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from bench.servers import Process
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

PER_TOPIC = 1000
PROBE_S = 0.005
IDLE_S = 66  # a round of every checkpoint
TIMEOUT_S = 600
_PRODUCE, _METADATA, _API_VERSIONS = 0, 3, 18


class Probe:
    """Asks the broker all the time, and keeps the longest that an answer took."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stopped = threading.Event()
        self._waits: list[float] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def running(self) -> Iterator["Probe"]:
        """Asks as long as the block runs; once for each Probe."""
        self._thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            self._thread.join()

    def _run(self) -> None:
        with suppress(OSError, EOFError), Wire(self._port) as wire:
            while not self._stopped.wait(PROBE_S):
                begun = time.perf_counter()
                wire.ask(_API_VERSIONS, 0, {})
                self._waits.append(time.perf_counter() - begun)

    def __str__(self) -> str:
        waits = sorted(self._waits)
        if not waits:
            return "nobody was asked"
        p999 = waits[min(int(len(waits) * 0.999), len(waits) - 1)]
        return f"longest wait {waits[-1] * 1000:.0f} ms, p99.9 {p999 * 1000:.0f} ms"


class Subject:
    """The broker, and what is told of it after each step."""

    def __init__(self, broker: Brokerd) -> None:
        self.broker = broker

    def launch(self) -> None:
        """Starts the broker. Raises RuntimeError if it is not ready within TIMEOUT_S."""
        self.broker.launch(is_forked=False)
        self.broker.wait_until_ready(TIMEOUT_S)

    @property
    def process(self) -> Process:
        """The running broker."""
        assert self.broker.process is not None
        return Process(self.broker.process.pid)

    @contextmanager
    def step(self, name: str, *, probed: bool = True) -> Iterator[None]:
        """Prints what the block took; `probed` has somebody ask meanwhile."""
        cpu_s = self.process.cpu_seconds() if self.broker.process else 0.0
        begun = time.perf_counter()
        probe = Probe(self.broker.port)
        if probed:
            with probe.running():
                yield
        else:
            yield
        took_s = time.perf_counter() - begun
        parts = [f"{name:34} {took_s:7.2f} s"]
        if self.broker.process:
            process = self.process
            parts.append(f"{process.cpu_seconds() - cpu_s:6.2f} CPU-s")
            parts.append(f"{process.rss_bytes() / 1e6:5.0f} MB")
        if probed:
            parts.append(str(probe))
        print("  ".join(parts), flush=True)


def names(partitions: int) -> list[str]:
    """The topics, of PER_TOPIC partitions each, that have at least so many partitions."""
    return [f"many-{number}" for number in range(-(-partitions // PER_TOPIC))]


def create(broker: Brokerd, topics: list[str]) -> None:
    """Makes the topics, one request each. Raises KafkaException."""
    admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
    for topic in topics:
        new = NewTopic(topic, PER_TOPIC, 1)
        admin.create_topics([new], operation_timeout=60, request_timeout=60)[topic].result(90)


def fill(broker: Brokerd, topics: list[str]) -> None:
    """One batch of one record into every partition, a topic a request."""
    with Wire(broker.port) as wire:
        for topic in topics:
            record = Record(0, time.time_ns() // 1_000_000, None, bytes(99))
            batch = bytes(encode_batch([record]))
            data = [{"index": index, "records": batch} for index in range(PER_TOPIC)]
            topic_data = [{"name": topic, "partition_data": data}]
            fields = {"acks": 1, "timeout": 30_000, "topic_data": topic_data}
            wire.ask(_PRODUCE, 7, {"transactional_id": None, **fields})


def metadata(broker: Brokerd) -> None:
    """Asks for all topics and reads the answer, undecoded."""
    with Wire(broker.port) as wire:
        wire.request(_METADATA, 9, {"topics": None})
        wire.frame()


def scrape(broker: Brokerd, path: str) -> None:
    """Reads a page of the admin port. Raises URLError."""
    token = (broker.directory / "admin.token").read_text().strip()
    request = urllib.request.Request(broker.admin_url + path)
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()


def measure(subject: Subject, partitions: int) -> None:
    """All steps, and then what the broker warned of."""
    broker = subject.broker
    topics = names(partitions)
    with subject.step("start, empty", probed=False):
        subject.launch()
    with subject.step(f"create {len(topics)} topics of {PER_TOPIC}"):
        create(broker, topics)
    with subject.step("one batch into each"):
        fill(broker, topics)
    with subject.step("clean stop", probed=False):
        broker.stop(TIMEOUT_S)
    with subject.step("start after a clean stop", probed=False):
        subject.launch()
    with subject.step("Metadata of everything"):
        metadata(broker)
    with subject.step("the same again"):
        metadata(broker)
    with subject.step("/metrics and /v1/partitions"):
        scrape(broker, "/metrics")
        scrape(broker, "/v1/partitions")
    with subject.step("idle, with every checkpoint"):
        time.sleep(IDLE_S)
    with subject.step("idle, nobody asking", probed=False):
        time.sleep(IDLE_S / 2)
    with subject.step("one batch into each"):
        fill(broker, topics)
    broker.kill()
    with subject.step("start after a kill", probed=False):
        subject.launch()
    with subject.step("one batch into each"):
        fill(broker, topics)
    with subject.step("clean stop", probed=False):
        broker.stop(TIMEOUT_S)
    for line in broker.output.read_text().splitlines():
        if " WARNING " in line or " ERROR " in line:
            print(line)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--partitions", type=int, default=40_000)
    parser.add_argument("--directory", type=Path, help="where to write (default: temp)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brokerd-many-", dir=options.directory) as name:
        directory = Path(name)
        with ZooKeeper.started(directory / "zookeeper", heap="512m") as zookeeper:
            broker = Brokerd(directory / "brokerd", 1, zookeeper.connect("/many"), {})
            try:
                measure(Subject(broker), options.partitions)
            finally:
                broker.kill()


if __name__ == "__main__":
    main()

"""What an incremental Fetch costs of which one partition changed, by the size of its session.

    python -m bench.sessions [--partitions 1 1000 10000] [--polls 300]

Each poll waits at the broker until a Produce of one record ends it. The figure is the broker's CPU
for both; the difference between two sizes is what the partitions cost that did not change.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import topics
from bench.raw import batch, produce_frame
from bench.servers import BROKERD, Server, running
from brokerd.protocol.api_keys import ApiKey
from tests.support.wire import Wire

WAIT_MS = 20_000
PARKED_S = 0.002
V = 11


class Poller:
    """A fetcher with a session of all partitions of a topic."""

    def __init__(self, wire: Wire, topic: str, partitions: int) -> None:
        self._wire = wire
        self._topic = topic
        self._epoch = self._id = 0
        self.ask(dict.fromkeys(range(partitions), 0), 0)
        for _ in range(2):
            self.ask({}, 0)

    def begin(self, changed: dict[int, int], wait_ms: int = WAIT_MS) -> None:
        """Sends a request, with these offsets that changed."""
        rows = [
            {"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
            for index, offset in changed.items()
        ]
        fields = {
            "replica_id": -1, "max_wait": wait_ms, "min_bytes": 1, "max_bytes": 1 << 20,
            "session_id": self._id, "session_epoch": self._epoch,
            "topics": [{"topic": self._topic, "partitions": rows}] if rows else [],
        }  # fmt: skip
        self._wire.request(ApiKey.FETCH, V, fields)

    def end(self) -> Any:
        """The answer."""
        answer = self._wire.answer(ApiKey.FETCH, V)
        self._id = answer.session_id
        self._epoch += 1
        return answer

    def ask(self, changed: dict[int, int], wait_ms: int) -> None:
        """A request and its answer."""
        self.begin(changed, wait_ms)
        self.end()


def poll_cpu_s(server: Server, partitions: int, polls: int) -> float:
    """The broker's CPU seconds for one poll and the Produce that ends it."""
    topic = topics.create(server, "session", partitions)
    frame = produce_frame(topic, batch(1, 100))
    with Wire(server.port) as fetching, Wire(server.port) as producing:
        poller = Poller(fetching, topic, partitions)
        before_s = server.precise_cpu_seconds()
        for number in range(polls):
            poller.begin({0: number} if number else {})
            time.sleep(PARKED_S)
            producing.send(frame)
            producing.frame()
            (told,) = poller.end().responses[0].partitions
            if told.partition_index != 0 or not told.records:
                raise RuntimeError(f"the poll was answered with {told}")
        return (server.precise_cpu_seconds() - before_s) / polls


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 1_000, 10_000])
    parser.add_argument("--polls", type=int, default=300)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="brokerd-sessions-") as name,
        running(Path(name), [BROKERD]) as servers,
    ):
        for partitions in options.partitions:
            seconds = poll_cpu_s(servers[BROKERD], partitions, options.polls)
            print(f"{partitions:>6} partitions: {seconds * 1e6:.0f} µs of CPU a poll", flush=True)


if __name__ == "__main__":
    main()

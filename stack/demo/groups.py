"""The three consumer groups of the demo: a fast one, a slow one, and one that stops and starts.

Each member is a thread with a consumer. It discards what it reads.
"""

import logging
import threading
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError

from monitoring.clock import now_ms
from stack.demo.client import IGNORED_ERRORS, base_config
from stack.demo.outages import OutageLog
from stack.demo.rates import RateLimiter, is_active, slow_rate
from stack.demo.topics import FAST, ON_OFF, SLOW, Group

log = logging.getLogger(__name__)

INTERVAL_S = 0.5
BATCH = 500  # records per call, for members without a rate limit


class Member:
    """One member of a group.

    `record_limit(now_ms)`: how many records it may read now; None = no limit. `should_run(ms)`:
    whether it is a member so many milliseconds after its start.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        group: Group,
        number: int,
        stop: threading.Event,
        record_limit: Callable[[int], int] | None = None,
        should_run: Callable[[int], bool] = lambda elapsed_ms: True,
    ) -> None:
        self.name = f"{group.name}-{number}"
        self._group = group
        self._servers = bootstrap_servers
        self._stop = stop
        self._record_limit = record_limit
        self._should_run = should_run
        self._outage_log = OutageLog(f"reading ({self.name})")
        self._started_ms = now_ms()

    def run(self) -> None:
        """Join, read and leave, according to `should_run`, until `stop` is set."""
        while not self._stop.is_set():
            if self._should_run(self._elapsed_ms()):
                self._read_until_stopped()
            self._stop.wait(INTERVAL_S)

    def _read_until_stopped(self) -> None:
        consumer = Consumer(
            {
                **base_config(self._servers, self.name),
                "group.id": self._group.name,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 1_000,
                "session.timeout.ms": 10_000,
                "queued.max.messages.kbytes": 4_096,
                "error_cb": self._on_error,
            }
        )
        consumer.subscribe(list(self._group.topics))
        try:
            while not self._stop.is_set() and self._should_run(self._elapsed_ms()):
                self._read_once(consumer)
        finally:
            consumer.close()

    def _read_once(self, consumer: Consumer) -> None:
        allowed = BATCH if self._record_limit is None else self._record_limit(now_ms())
        if allowed == 0:
            self._stop.wait(INTERVAL_S)
            return
        for message in consumer.consume(allowed, timeout=INTERVAL_S):
            error = message.error()
            if error is not None:
                self._on_error(error)
            elif line := self._outage_log.report_up(now_ms()):
                log.info(line)

    def _elapsed_ms(self) -> int:
        return now_ms() - self._started_ms

    def _on_error(self, error: KafkaError) -> None:
        if error.code() in IGNORED_ERRORS:
            return
        if line := self._outage_log.report_down(error.str(), now_ms()):
            log.warning(line)


class SlowGroupLimit:
    """The number of records that the slow group may read now, from the rate of the sender."""

    def __init__(self, rate: float, now_ms: int) -> None:
        self._rate = rate
        self._started_ms = now_ms
        self._limiter = RateLimiter(rate, now_ms)

    def __call__(self, now_ms: int) -> int:
        self._limiter.rate = slow_rate(self._rate, now_ms - self._started_ms)
        return self._limiter.due(now_ms)


def all_members(bootstrap_servers: str, rate: int, stop: threading.Event) -> list[Member]:
    """Every member of the three groups."""
    members = [
        Member(bootstrap_servers, FAST, number, stop) for number in range(1, FAST.members + 1)
    ]
    members.append(
        Member(bootstrap_servers, SLOW, 1, stop, record_limit=SlowGroupLimit(rate, now_ms()))
    )
    members.append(Member(bootstrap_servers, ON_OFF, 1, stop, should_run=is_active))
    return members

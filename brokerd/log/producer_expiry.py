"""Idempotent producers that write nothing any more are forgotten: every
producer.id.expiration.check.interval.ms, those whose last batch is producer.id.expiration.ms old.

Kafka's ProducerStateManager also passes over the expired ones of a snapshot that it loads; so does
a log here, by the time of the last check, which comes soon after the start.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

SLICE: Final = 500


class ExpiringLog(Protocol):
    """What is needed of a log."""

    def expire_producers(self, until_ms: int) -> None: ...


class ProducerExpiry:
    """A duty: `tick` is called about once a second and does a bounded slice."""

    __slots__ = ("_due_ms", "_interval_ms", "_logs", "_round", "expiration_ms")

    def __init__(
        self,
        logs: Callable[[], Sequence[ExpiringLog]],
        expiration_ms: int,
        interval_ms: int,
    ) -> None:
        self._logs = logs
        self.expiration_ms = expiration_ms
        self._interval_ms = interval_ms
        self._due_ms = 0
        self._round: Iterator[ExpiringLog] = iter(())

    def tick(self, now_ms: int) -> None:
        """Look at some logs, if a round is due or under way."""
        if now_ms >= self._due_ms:
            self._due_ms = now_ms + self._interval_ms
            self._round = iter(self._logs())
        for _, log in zip(range(SLICE), self._round, strict=False):
            log.expire_producers(now_ms - self.expiration_ms)

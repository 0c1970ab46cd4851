"""Removes idempotent producers whose last batch is older than producer.id.expiration.ms, every
producer.id.expiration.check.interval.ms; those of a log that is not loaded yet, when it is loaded
(Kafka's UnifiedLog.removeExpiredProducers).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from brokerd.log.unified_log import UnifiedLog

SLICE: Final = 500


@dataclass(slots=True)
class ProducerExpiry:
    logs: Callable[[], Sequence[UnifiedLog]]
    expiration_ms: int
    interval_ms: int
    _due_ms: int = 0
    _round: Iterator[UnifiedLog] | None = None

    def tick(self, now_ms: int) -> None:
        """Looks at some logs if a round is due or under way; one is ended before the next."""
        if self._round is None:
            if now_ms < self._due_ms:
                return
            self._due_ms = now_ms + self.interval_ms
            self._round = iter(self.logs())
        looked_at = 0
        for log in islice(self._round, SLICE):
            log.remove_expired_producers(now_ms - self.expiration_ms)
            looked_at += 1
        if looked_at < SLICE:
            self._round = None

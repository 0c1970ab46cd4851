"""flush.messages: after so many records a log is synced, and until it is, nobody may rely on them.

Kafka syncs within the append. Here a thread does, while other logs are appended to, and what
arrives meanwhile is synced together by the next one.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT64_MAX

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog

logger = logging.getLogger(__name__)

NO_LIMIT: Final = INT64_MAX


class FlushedAppends:
    """`moved` is called when `limit` has changed."""

    __slots__ = ("_is_flushing", "_limit", "_log", "_moved")

    def __init__(self, log: "UnifiedLog", moved: Callable[[], object]) -> None:
        self._log = log
        self._moved = moved
        self._is_flushing = False
        self._limit = NO_LIMIT
        log.local.on_synced = self._synced

    @property
    def limit(self) -> int:
        """Up to where the log may be relied on. What flush.messages does not ask for now, since it
        was changed, say, is waited for no more."""
        if self._limit != NO_LIMIT and not self._is_flushing and not self._is_due():
            self._limit = NO_LIMIT
        return self._limit

    def _is_due(self) -> bool:
        log = self._log
        return log.log_end_offset - log.recovery_point >= log.config.flush_messages

    def appended(self, relied_on: int) -> None:
        """Something was appended; up to `relied_on` it was relied on before. A sync that cannot
        begin is tried again after the next append, and by the clock."""
        log = self._log
        if log.local.is_abandoned:
            return
        if self._is_flushing or not self._is_due():
            return
        self._limit = min(self._limit, max(relied_on, log.recovery_point))
        self._is_flushing = True
        try:
            log.local.begin_flush(log.log_end_offset, self._flushed)
        except KafkaError as error:  # the log directory's owner has heard of it
            self._is_flushing = False
            logger.warning(
                "%s-%d cannot be synced now as flush.messages asks: %s",
                log.topic, log.partition, error.message,
            )  # fmt: skip

    def _synced(self) -> None:
        if not self._is_flushing and self._limit != NO_LIMIT:
            self._flushed()

    def _flushed(self) -> None:
        """The sync has ended; if it failed the limit stays, and the next append tries again."""
        self._is_flushing = False
        log = self._log
        if log.recovery_point < min(self._limit + 1, log.log_end_offset):
            return
        self._limit = NO_LIMIT
        self.appended(log.recovery_point)
        self._moved()

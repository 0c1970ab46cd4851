"""The levels of the history: raw ticks, minutes, hours, days. Pure.

How long each is kept is a setting with its default and its bounds in console/settings.py:
AERIE_HISTORY_RAW_HOURS, AERIE_HISTORY_MINUTE_DAYS, AERIE_HISTORY_HOUR_DAYS, AERIE_HISTORY_DAY_DAYS.

A level's files are in a folder for each *span* of time, with a manifest (manifest.py):

    cluster=<slug>/level=raw/span=<YYYYMMDDHH>/      ticks, an hour a folder
    cluster=<slug>/level=minute/span=<YYYYMMDD>/     buckets of a minute, a day a folder
    cluster=<slug>/level=hour/span=<YYYYMM>/         buckets of an hour, a month a folder
    cluster=<slug>/level=day/span=<YYYY>/            buckets of a day, a year a folder

All times are UTC. Only changes are stored (table_specs.py). But at fixed times a level has a row
for each key (a topic and partition, a group …): the levels raw and minute at the start of each
hour, the levels hour and day at the start of each day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the history.

    Attributes:
        bucket_ms: 0 = a bucket is a tick.
        all_keys_every_ms: how often it has a row for each key (see above).
        retention_setting: the name of the setting of its retention, in units of
            `retention_unit_ms`; 0 = for good.
    """

    name: str
    bucket_ms: int
    span_format: str
    all_keys_every_ms: int
    retention_setting: str
    retention_unit_ms: int

    def span_of(self, at_ms: int) -> str:
        """The span that contains a time."""
        return _utc(at_ms).strftime(self.span_format)

    def span_start_ms(self, span: str) -> int:
        """The start of a span. Raises ValueError if `span` is not valid."""
        start = datetime.strptime(span, self.span_format).replace(tzinfo=UTC)
        if start.strftime(self.span_format) != span:
            raise ValueError(f"{span} is not a span of the level {self.name}")
        return int(start.timestamp() * 1000)

    def is_span(self, span: str) -> bool:
        """Whether `span` is valid."""
        try:
            self.span_start_ms(span)
        except ValueError:
            return False
        return True

    def span_end_ms(self, span: str) -> int:
        """The start of the next span."""
        at_ms = self.span_start_ms(span)
        while self.span_of(at_ms) == span:  # at most 366 days; each span starts with all keys
            at_ms += self.all_keys_every_ms
        return at_ms

    def all_keys_start_ms(self, at_ms: int) -> int:
        """The last time, up to `at_ms`, at which the level has a row for each key."""
        return at_ms - at_ms % self.all_keys_every_ms


def _utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


RAW = Level("raw", 0, "%Y%m%d%H", HOUR_MS, "AERIE_HISTORY_RAW_HOURS", HOUR_MS)
MINUTE = Level("minute", MINUTE_MS, "%Y%m%d", HOUR_MS, "AERIE_HISTORY_MINUTE_DAYS", DAY_MS)
HOUR = Level("hour", HOUR_MS, "%Y%m", DAY_MS, "AERIE_HISTORY_HOUR_DAYS", DAY_MS)
DAY = Level("day", DAY_MS, "%Y", DAY_MS, "AERIE_HISTORY_DAY_DAYS", DAY_MS)
LEVELS = (RAW, MINUTE, HOUR, DAY)
SOURCE_OF = {MINUTE: RAW, HOUR: MINUTE, DAY: HOUR}
"""The level from which a level is computed."""


def bucket_start(at_ms: int, bucket_ms: int) -> int:
    """The start of the bucket that contains a time."""
    return at_ms - at_ms % bucket_ms

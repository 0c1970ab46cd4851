"""Which segments of a log its retention deletes next, by the rules of Kafka's brokers. Pure.

A check begins with the oldest segment and stops at the first that stays. A segment is deleted
because its latest record is older than retention.ms, because the log without it still has
retention.bytes, or because it lies before the log start offset. A segment with offsets beyond the
high watermark stays. The active segment counts as staying: the broker would close it first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from monitoring.gateway.log_directory.log_directories import RETENTION_SETTINGS

Json = dict[str, Any]
SETTINGS = RETENTION_SETTINGS


@dataclass(frozen=True, slots=True)
class Retention:
    """The settings of a topic that decide what is deleted or compacted.

    `ms` is retention.ms, `size_bytes` retention.bytes; None = no limit, or not known.
    """

    ms: int | None = None
    size_bytes: int | None = None
    is_compacted: bool = False
    min_compaction_lag_ms: int = 0

    @classmethod
    def of(cls, values: dict[str, str | None]) -> "Retention":
        """The retention in the settings of a topic: name → value."""
        policy = values.get("cleanup.policy") or ""
        ms, size_bytes = (int(values.get(f"retention.{unit}") or -1) for unit in ("ms", "bytes"))
        deletes = "delete" in policy
        return cls(
            ms if deletes and ms >= 0 else None,
            size_bytes if deletes and size_bytes >= 0 else None,
            "compact" in policy,
            int(values.get("min.compaction.lag.ms") or 0),
        )

    @property
    def seconds(self) -> float | None:
        return None if self.ms is None else self.ms / 1000

    def due(
        self,
        segments: Sequence[Json],
        log_start: int | None,
        high_watermark: int | None,
        now_ms: int,
    ) -> set[int]:
        """The base offsets of those that the next check deletes; `segments`: oldest first."""
        excess_bytes = sum(each["size_bytes"] for each in segments) - (self.size_bytes or 0)
        found = set()
        for segment in segments:
            is_large = self.size_bytes is not None and excess_bytes >= segment["size_bytes"]
            is_before = log_start is not None and segment["next_offset"] <= log_start
            is_uncommitted = high_watermark is not None and segment["next_offset"] > high_watermark
            if segment["active"] or is_uncommitted:
                break
            if not (self._is_old(segment, now_ms) or is_large or is_before):
                break
            excess_bytes -= segment["size_bytes"]
            found.add(segment["base_offset"])
        return found

    def due_at_ms(self, segment: Json) -> int | None:
        """When the latest record of a closed segment becomes older than retention.ms.

        None = never, or not known.
        """
        latest_ms = segment["largest_timestamp_ms"]
        if self.ms is None or segment["active"] or latest_ms is None:
            return None
        due_at_ms: int = latest_ms + self.ms
        return due_at_ms

    def _is_old(self, segment: Json, now_ms: int) -> bool:
        due_at_ms = self.due_at_ms(segment)
        return due_at_ms is not None and due_at_ms < now_ms

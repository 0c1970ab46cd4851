"""Turns Spark's task counts into a percentage that never decreases. Pure.

A report has stages of its own (kinds.py), with equal weight; within a stage the share of finished
Spark tasks counts. Spark adds tasks while it runs, so the share can shrink; the percentage then
keeps its value. 100 is reached only when the report is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class SparkStage(Protocol):
    """The part of Spark's progress handler's argument that is used here."""

    num_tasks: int
    num_completed_tasks: int


class ReportProgress:
    """The progress of a report with `stages` stages; `percent` is from 0 to 99."""

    def __init__(self, stages: int) -> None:
        assert stages > 0
        self._stages = stages
        self._stage = 0
        self.percent = 0

    def start_stage(self, stage: int) -> int:
        """Stage number `stage` (from 0) begins."""
        self._stage = stage
        return self._raise_to(stage / self._stages)

    def update(self, spark_stages: Iterable[SparkStage]) -> int:
        """Update from the Spark stages of the query that runs now."""
        total = done = 0
        for stage in spark_stages:
            total += stage.num_tasks
            done += stage.num_completed_tasks
        share = done / total if total else 0.0
        return self._raise_to((self._stage + share) / self._stages)

    def _raise_to(self, share: float) -> int:
        self.percent = min(99, max(self.percent, int(share * 100)))
        return self.percent

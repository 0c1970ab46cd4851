"""Filters the rows that a user may see, by name."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from monitoring.scope import ANY, Scope


def within(rows: DataFrame, scope: Scope) -> DataFrame:
    """The rows about topics and groups that the scope shows; one of no topic stays."""
    if "topic" in rows.columns:
        rows = rows.where(F.col("topic").isNull() | shows_topic(F.col("topic"), scope))
    if ANY not in scope.groups and "group" in rows.columns:
        rows = rows.where(_matches(F.col("group"), scope.groups))
    return rows


def shows_topic(topic: Column, scope: Scope) -> Column:
    """Whether the scope shows the topic: Scope.shows_topic as a condition on a column."""
    shows = F.lit(True) if ANY in scope.topics else _matches(topic, scope.topics)
    if scope.hidden_topics:
        shows = shows & ~topic.isin(sorted(scope.hidden_topics))
    return shows


def _matches(name: Column, patterns: Sequence[str]) -> Column:
    """Whether a pattern matches the name: monitoring.scope.matches as a condition on a column."""
    found = F.lit(False)
    for pattern in patterns:
        is_prefix = pattern.endswith(ANY)
        found = found | (name.startswith(pattern[:-1]) if is_prefix else name == pattern)
    return found

"""Which topics, groups and partitions of a tick are in a scope, as masks over its columns. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from django.utils.functional import cached_property

from monitoring.read_model.numpy_columns import Names
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import ANY, Scope


@dataclass(frozen=True, eq=False)
class ScopeMasks:
    """Each mask is computed on first use; threads may share them (see snapshot.py)."""

    columns: TickColumns
    scope: Scope

    @cached_property
    def topics(self) -> np.ndarray:
        """For each topic: whether it exists and is in the scope."""
        shown = _topics_in_scope(self.columns.partitions.topic_names, self.scope)
        return shown & (self.columns.topics.partitions > 0)

    @cached_property
    def pairs(self) -> np.ndarray:
        """For each pair of a group and a topic: whether both are in the scope."""
        groups = self.columns.groups
        group = matching(groups.group_names, self.scope.groups)
        topic = _topics_in_scope(groups.topic_names, self.scope)
        shown: np.ndarray = group[groups.group] & np.append(topic, True)[groups.topic]
        return shown

    @cached_property
    def partitions(self) -> np.ndarray:
        """For each partition: whether its topic is in the scope."""
        shown: np.ndarray = self.topics[self.columns.partitions.topic]
        return shown

    @cached_property
    def non_internal_topics(self) -> np.ndarray:
        """Topics in the scope that are not internal."""
        is_internal = matching(self.columns.partitions.topic_names, ("__*",))
        shown: np.ndarray = self.topics & ~is_internal
        return shown

    @cached_property
    def rows(self) -> np.ndarray:
        """For each row of the group table: whether it is in the scope."""
        shown: np.ndarray = self.pairs[self.columns.commits.rows.pair]
        return shown

    @cached_property
    def groups(self) -> np.ndarray:
        """For each group: whether a pair of it is in the scope."""
        groups = self.columns.groups
        shown = np.zeros(len(groups.group_names.all), dtype=bool)
        shown[groups.group[self.pairs]] = True
        return shown

    @cached_property
    def group_codes(self) -> np.ndarray:
        """The codes of the groups in the scope, by name."""
        order = self.columns.groups.group_names.order
        shown: np.ndarray = order[self.groups[order]]
        return shown


def _topics_in_scope(topics: Names, scope: Scope) -> np.ndarray:
    """For each topic: whether it is in the scope."""
    shown = matching(topics, scope.topics)
    shown[[topics.code_of[name] for name in scope.hidden_topics if name in topics.code_of]] = False
    return shown


def matching(names: Names, patterns: Iterable[str]) -> np.ndarray:
    """For each name: whether it matches a pattern of a scope (monitoring/scope.py)."""
    mask = np.zeros(len(names.all), dtype=bool)
    for pattern in patterns:
        if pattern.endswith(ANY):
            has_prefix = pc.starts_with(names.values, pattern=pattern[: -len(ANY)])
            mask |= has_prefix.to_numpy(zero_copy_only=False)
        elif pattern in names.code_of:
            mask[names.code_of[pattern]] = True
    return mask

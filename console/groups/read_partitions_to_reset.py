"""Reads from the cluster what a reset of offsets starts from: the chosen partitions, their commits
and logs; compute_reset_offsets.py makes exact offsets of them. Changes nothing.

The plan of a reset (offset_plans.py) and the preview beside its form (reset_preview.py) use it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions.draft import PlanRefused, refuse_unread_partitions
from console.groups.compute_reset_offsets import (
    PARTITIONS_MAX,
    CommitInLog,
    InvalidInput,
    ResetTo,
    new_offsets,
)
from console.ui.texts import first_lines
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.models import Cluster
from monitoring.scope import Scope


@dataclass(frozen=True, slots=True)
class Reset:
    """What a user chose. `topic` "" = all topics of the group, `partitions` () = all of them."""

    reset_to: ResetTo
    topic: str = ""
    partitions: tuple[int, ...] = ()
    number: int = 0  # the offset, or by how much to shift
    at_ms: int = 0
    from_group: str = ""
    file_offsets: dict[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedReset:
    """The chosen partitions as they are, and the new offsets of those that get one."""

    commits: dict[TopicPartition, CommitInLog]
    offsets: dict[TopicPartition, int]

    @property
    def changed(self) -> dict[TopicPartition, int]:
        """The new offsets that differ from the committed ones."""
        return {key: new for key, new in self.offsets.items() if self.commits[key].committed != new}

    @property
    def left_out(self) -> list[TopicPartition]:
        """The partitions that have no new offset and stay as they are."""
        return [key for key in self.commits if key not in self.offsets]


def resolve(principal: Principal, cluster: Cluster, group: str, reset: Reset) -> ResolvedReset:
    """The exact offsets of a reset. Raises PlanRefused or GatewayError."""
    scope = principal.rights(cluster).scope
    if reset.from_group and not scope.shows_group(reset.from_group):
        raise PlanRefused(_("There is no group “%(name)s”.") % {"name": reset.from_group})
    with for_cluster(cluster) as gateway:
        committed = gateway.groups.committed(group)
        chosen = _chosen_partitions(gateway, scope, committed, reset)
        logs = gateway.log_offsets.ranges(chosen)
        refuse_unread_partitions(partition_key(*key) for key in chosen if key not in logs)
        commits = {key: CommitInLog(committed.get(key), logs[key]) for key in chosen}
        given = _given_offsets(gateway, scope, chosen, reset)
    try:
        offsets = new_offsets(reset.reset_to, commits, number=reset.number, given=given)
    except InvalidInput as error:
        raise PlanRefused(str(error)) from error
    if not offsets:
        raise PlanRefused(_("None of these partitions has an offset to begin from."))
    return ResolvedReset(commits, offsets)


def _chosen_partitions(
    gateway: Gateway, scope: Scope, committed: Iterable[TopicPartition], reset: Reset
) -> list[TopicPartition]:
    """The partitions to reset: those of a file, or of the chosen topics. Raises PlanRefused."""
    spans = gateway.wire.metadata().rows_by_topic
    counts = {topic: len(span) for topic, span in spans.items() if scope.shows_topic(topic)}
    if reset.reset_to == ResetTo.FILE:
        keys = [key for key in reset.file_offsets if _is_chosen(key, reset)]
    elif reset.topic:
        numbers = reset.partitions or range(counts.get(reset.topic, 0))
        keys = [(reset.topic, number) for number in numbers]
    else:
        topics = sorted({topic for topic, _number in committed} & counts.keys())
        keys = [(topic, number) for topic in topics for number in range(counts[topic])]
    if len(keys) > PARTITIONS_MAX:
        text = _("These are %(n)d partitions; one plan can have %(most)d. Choose a topic.")
        raise PlanRefused(text % {"n": len(keys), "most": PARTITIONS_MAX})
    if reset.topic and reset.topic not in counts:
        raise PlanRefused(_("There is no topic “%(topic)s”.") % {"topic": reset.topic})
    text = _("There is no partition %(name)s.")
    unknown = [key for key in keys if not 0 <= key[1] < counts.get(key[0], 0)]
    if unknown:
        raise PlanRefused(first_lines(text % {"name": partition_key(*key)} for key in unknown))
    if not keys:
        raise PlanRefused(_("The group has committed no offsets yet: choose a topic."))
    return sorted(keys)


def _is_chosen(key: TopicPartition, reset: Reset) -> bool:
    return (not reset.topic or key[0] == reset.topic) and (
        not reset.partitions or key[1] in reset.partitions
    )


def _given_offsets(
    gateway: Gateway, scope: Scope, chosen: list[TopicPartition], reset: Reset
) -> dict[TopicPartition, int | None]:
    """The offsets of a file, of another group or at a time. Raises PlanRefused."""
    if reset.reset_to == ResetTo.FILE:
        return dict(reset.file_offsets)
    if reset.reset_to == ResetTo.GROUP:
        other = gateway.groups.committed(reset.from_group)
        if not any(scope.shows_topic(topic) for topic, _number in other):
            text = _("The group “%(name)s” has committed no offsets.")
            raise PlanRefused(text % {"name": reset.from_group})
        return dict(other)
    if reset.reset_to in (ResetTo.TIME, ResetTo.DURATION):
        found = gateway.log_offsets.at_time(chosen, reset.at_ms)
        refuse_unread_partitions(partition_key(*key) for key in chosen if key not in found)
        return found
    return {}

"""Delete the oldest records of a topic, up to an offset in each partition.

Parameters: `name`, and `offsets`: partition (as text) → the first offset that is kept. The offsets
are those of the review: records that producers write after it are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import (
    Change,
    Draft,
    Facts,
    Figure,
    PlanRefused,
    refuse_unread_partitions,
)
from console.topics.actions import changes_since_review
from console.topics.actions.affected_groups import groups_reading
from console.topics.actions.topic_facts import read_existing
from console.topics.actions.topic_target import TOPIC_TARGET
from console.topics.changeable_topics import refuse_unchangeable
from console.ui import numbers
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot

LOGS, POLICY = "logs", "policy"


class PurgeTopic(ItemsAction):
    action = "topic.purge"
    verb = "topic.purge"
    target_type = TOPIC_TARGET
    form_page = "topic-purge"

    def title(self, resource: str) -> str:
        return _("Purge “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Delete records")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The logs of the partitions, and the cleanup policy: Kafka purges no compacted topic."""
        name = params["name"]
        logs = gateway.log_offsets.ranges([(name, number) for number in _partitions(params)])
        return {
            **read_existing(gateway, params),
            POLICY: _policy(gateway, name),
            ITEMS: dict(params["offsets"]),
            LOGS: {str(number): [log.start, log.stop] for (_topic, number), log in logs.items()},
        }

    def compared(self, facts: Facts) -> Facts:
        """Neither the logs, which grow, nor the replicas, which may move."""
        return {key: facts.get(key) for key in ("topic_id", "partitions", POLICY)}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        if now[POLICY] != then[POLICY]:
            text = _("Its cleanup.policy is “%(policy)s” now.")
            return [text % {"policy": now[POLICY]}]
        return changes_since_review.of_existing_topic(then, {**now, "replicas": then["replicas"]})

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        name = params["name"]
        self._check(facts, params)
        sizes = {}
        if snapshot is not None:
            sizes = {row.partition: row.size_bytes for row in snapshot.partitions(name)}
        rows = [
            _change_and_sizes(
                int(number), offset, range(*facts[LOGS][number]), sizes.get(int(number))
            )
            for number, offset in params["offsets"].items()
        ]
        counts, sizes_freed = [count for _c, count, _s in rows], [size for _c, _n, size in rows]
        known = [size for size in sizes_freed if size is not None]
        freed = sum(known) if len(known) == len(sizes_freed) else None
        return Draft(
            title=_("Delete records of “%(name)s”") % {"name": name},
            changes=[change for change, _count, _size in rows],
            figures=[
                Figure(_("Records"), numbers.count(sum(counts)), _("offsets, as counted now")),
                Figure(_("Size"), numbers.size(freed), _("about, of one replica")),
                Figure(_("Partitions"), numbers.count(len(rows))),
            ],
            affected=groups_reading(name, snapshot),
            warnings=[
                _("The records are deleted. This cannot be undone."),
                _(
                    "Groups that have not read them skip them. Records written after this review "
                    "are kept."
                ),
            ],
            typed_name=name,
            before={number: facts[LOGS][number][0] for number in params["offsets"]},
            after=dict(params["offsets"]),
        )

    def items(self, params: Params) -> list[str]:
        return list(params["offsets"])

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        offsets = {int(key): params["offsets"][key] for key in keys}
        errors = gateway.topics.delete_records(params["name"], offsets)
        yield from (EndedItem(key, errors.get(int(key), "")) for key in keys)

    def _check(self, facts: Facts, params: Params) -> None:
        """Raises PlanRefused if the records cannot be deleted."""
        name = params["name"]
        refuse_unchangeable(name)
        if reason := why_not_purgeable(name, facts[POLICY]):
            raise PlanRefused(reason)
        logs = facts[LOGS]
        refuse_unread_partitions(number for number in params["offsets"] if number not in logs)
        for number, offset in params["offsets"].items():
            _start, end = logs[number]
            if offset > end:
                text = _("Offset %(offset)d is beyond the end of partition %(n)s, %(end)d.")
                raise PlanRefused(text % {"offset": offset, "n": number, "end": end})


@dataclass(frozen=True, slots=True)
class TopicLogs:
    """What a purge needs of a topic."""

    topic_id: str
    policy: str | None
    # Partition → its offsets; without partitions whose leaders did not answer.
    logs: dict[int, range]


def read_logs(gateway: Gateway, topic: str) -> TopicLogs:
    """The topic id, the cleanup policy and the offset ranges of a topic. Raises GatewayError."""
    found = gateway.topics.describe_topic(topic)
    logs = gateway.log_offsets.ranges([(topic, each.partition) for each in found.partitions])
    return TopicLogs(
        found.topic_id, _policy(gateway, topic), {number: log for (_t, number), log in logs.items()}
    )


def why_not_purgeable(topic: str, policy: str | None) -> str:
    """Why records of the topic cannot be deleted; empty if they can."""
    if not policy or "delete" in policy:
        return ""
    text = _(
        "The cleanup.policy of “%(name)s” is “%(policy)s”. Kafka deletes records only of topics "
        "whose policy contains “delete”."
    )
    return text % {"name": topic, "policy": policy}


def _policy(gateway: Gateway, topic: str) -> str | None:
    configs = gateway.topics.describe_configs(topic)
    return next((each.value for each in configs if each.name == "cleanup.policy"), None)


def _partitions(params: Params) -> list[int]:
    return [int(number) for number in params["offsets"]]


def _change_and_sizes(
    number: int, offset: int, log: range, size: int | None
) -> tuple[Change, int, int | None]:
    """The line of a partition, its records, and about how many bytes they take."""
    count = max(0, min(offset, log.stop) - log.start)
    freed = None if size is None else size * count // len(log) if len(log) else 0
    values = {"n": numbers.count(count), "size": numbers.size(freed)}
    if count == len(log):
        note = _("deletes all %(n)s records, about %(size)s") % values
    else:
        note = _("deletes %(n)s records, about %(size)s") % values
    name = _("Partition %(n)d begins at") % {"n": number}
    return Change(name, numbers.count(log.start), numbers.count(offset), note), count, freed

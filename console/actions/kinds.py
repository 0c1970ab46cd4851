"""Every kind of change there is: one row each, and nothing changes a cluster but through one.

`read` asks the cluster for the facts, `draft` is pure, `tell` puts into sentences what differs
between two readings, `apply` does it and reports its progress (percent, stage). `verb` is the
right that reviewing and applying need.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from console.actions.plan import Draft, Facts
from console.topics import changes as topics
from console.topics import told
from monitoring.gateway.gateway import Gateway

Params = Mapping[str, Any]
Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Kind:
    verb: str
    read: Callable[[Gateway, Params], Facts]
    draft: Callable[[Facts, Params, Any], Draft]  # the third: the newest Snapshot, or None
    tell: Callable[[Facts, Facts], list[str]]
    apply: Callable[[Gateway, Params, Report], None]


KINDS: dict[str, Kind] = {
    "topic.create": Kind(
        "topic.create", topics.read_new, topics.draft_create, told.tell_new,
        topics.apply_create,
    ),
    "topic.add-partitions": Kind(
        "topic.alter", topics.read_existing, topics.draft_add_partitions, told.tell_existing,
        topics.apply_add_partitions,
    ),
    "topic.delete": Kind(
        "topic.delete", topics.read_existing, topics.draft_delete, told.tell_existing,
        topics.apply_delete,
    ),
}  # fmt: skip

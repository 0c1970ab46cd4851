"""The three changes to topics: create, add partitions, delete.

For each: `read_*` asks the cluster for the facts, `draft_*` (pure) says what will happen, and
`apply_*` does it. The newest sample only tells who is affected; it is never part of the facts,
since its figures move all the time.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.actions.plan import Change, Draft, Facts, PlanRefused
from console.live.snapshot import Snapshot
from console.ui import numbers
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, NotFound, Refused
from monitoring.gateway.gateway import Gateway

Params = Mapping[str, Any]
Report = Callable[[int, str], None]
LEADER_WAIT_SECONDS = 20.0


def read_new(gateway: Gateway, params: Params) -> Facts:
    """For a topic that shall be made: whether it, or one that it would collide with, is there,
    and what the brokers object to (they are asked to check it without doing it)."""
    metadata = gateway.wire.metadata()
    name = params["name"]
    alike = [topic for topic in metadata.topics if _collides(topic, name)]
    facts = {"exists": name in metadata.topics, "brokers": len(metadata.brokers), "alike": alike}
    return {**facts, "objection": "" if facts["exists"] else _objection(gateway, params)}


def _objection(gateway: Gateway, params: Params) -> str:
    try:
        gateway.admin.create_topic(
            params["name"],
            params["partitions"],
            params["replication"],
            params["configs"],
            validate_only=True,
        )
    except Refused as error:
        return sentence(error.message)
    return ""


def _collides(a: str, b: str) -> bool:
    """Kafka's metrics turn "." into "_", so names that differ only there exclude each other."""
    return a != b and a.replace(".", "_") == b.replace(".", "_")


def read_existing(gateway: Gateway, params: Params) -> Facts:
    """For a topic that is there: which one, its partitions and where their replicas lie."""
    place = gateway.admin.describe_topic(params["name"])
    return {
        "topic_id": place.topic_id,  # another topic of this name has another
        "partitions": len(place.partitions),
        "replicas": [sorted(partition.replicas) for partition in place.partitions],
    }


def refusal(name: str) -> str:
    """Why a topic may not be changed at all; empty where it may."""
    if name.startswith("__"):
        return _(
            "“%(name)s” belongs to the cluster itself, which would break without it: it cannot be "
            "changed here."
        ) % {"name": name}
    return ""


def title_create(_name: str = "") -> str:
    """Of the form; its name is only asked for."""
    return _("Create a topic")


def title_add_partitions(name: str) -> str:
    return _("Add partitions to “%(name)s”") % {"name": name}


def title_delete(name: str) -> str:
    return _("Delete “%(name)s”") % {"name": name}


def draft_create(facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
    name, partitions, replication = params["name"], params["partitions"], params["replication"]
    if refusal(name):
        raise PlanRefused(
            _("Names that begin with “__” belong to the cluster itself: take another one.")
        )
    if facts["exists"]:
        raise PlanRefused(_("There is a topic “%(name)s” already.") % {"name": name})
    if facts["alike"]:
        raise PlanRefused(
            _("“%(name)s” collides with “%(other)s”: they differ only in “.” and “_”.")
            % {"name": name, "other": facts["alike"][0]}
        )
    if replication > facts["brokers"]:
        raise PlanRefused(
            _("Replication factor %(n)d needs as many brokers; %(up)d are there.")
            % {"n": replication, "up": facts["brokers"]}
        )
    if facts["objection"]:
        raise PlanRefused(_("The cluster refuses it: %(why)s") % {"why": facts["objection"]})
    changes = [
        Change(_("Topic"), "", name),
        Change(_("Partitions"), "", str(partitions)),
        Change(_("Replication factor"), "", str(replication)),
        *(Change(key, "", value) for key, value in params["configs"].items()),
    ]
    warnings = []
    if replication == 1:
        warnings.append(_("One copy only: a broker that is down takes its partitions with it."))
    if "." in name and "_" in name:
        warnings.append(_("“.” and “_” in one name invite collisions; better use only one."))
    return Draft(
        title=_("Create the topic “%(name)s”") % {"name": name},
        changes=changes,
        warnings=warnings,
        undo=_("Delete the topic."),
    )


def draft_add_partitions(facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
    name, total = params["name"], params["total"]
    if refusal(name):
        raise PlanRefused(refusal(name))
    if total <= facts["partitions"]:
        raise PlanRefused(
            _("“%(name)s” has %(n)d partitions already, and they cannot be removed.")
            % {"name": name, "n": facts["partitions"]}
        )
    return Draft(
        title=title_add_partitions(name),
        changes=[Change(_("Partitions"), str(facts["partitions"]), str(total))],
        affected=_readers(name, snapshot),
        warnings=[
            _("Records with the same key may go to another partition from now on."),
            _("Consumer groups rebalance when they notice, within some minutes."),
        ],
    )


def draft_delete(facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
    name = params["name"]
    if refusal(name):
        raise PlanRefused(refusal(name))
    row = snapshot.topic(name) if snapshot else None
    changes = [
        Change(_("Topic"), name, _("deleted")),
        Change(_("Partitions"), str(facts["partitions"]), "0"),
        Change(_("Offsets"), numbers.count(row.offsets if row else None), "0"),
        Change(_("Size"), numbers.size(row.size_bytes if row else None), "0"),
    ]
    warnings = [_("All records of the topic are lost. There is no undo.")]
    if row is not None and row.messages_rate:
        warnings.append(
            _("Someone is writing to it now (%(rate)s); with auto-create it may come back empty.")
            % {"rate": numbers.rate(row.messages_rate)}
        )
    return Draft(
        title=_("Delete the topic “%(name)s”") % {"name": name},
        changes=changes,
        affected=_readers(name, snapshot),
        warnings=warnings,
        typed_name=name,
    )


def _readers(topic: str, snapshot: Snapshot | None) -> list[str]:
    """Who reads the topic, for people: one line a group."""
    if snapshot is None:
        return [_("Who reads it is not known: there is no sample of this cluster yet.")]
    lags = snapshot.lags(topic=topic)
    lines = []
    for group in sorted({row.group for row in lags}):
        owned = sum(row.group == group and row.member_id is not None for row in lags)
        text = ngettext(
            "Group “%(group)s” reads %(n)d partition now",
            "Group “%(group)s” reads %(n)d partitions now",
            owned,
        )
        idle = _("Group “%(group)s” has committed offsets here, and no member now")
        lines.append((text if owned else idle) % {"group": group, "n": owned})
    return lines or [_("No consumer group reads it.")]


def apply_create(gateway: Gateway, params: Params, report: Report) -> None:
    report(20, _("Creating"))
    gateway.admin.create_topic(
        params["name"], params["partitions"], params["replication"], params["configs"]
    )
    _wait_for_leaders(gateway, params["name"], params["partitions"], report)


def apply_add_partitions(gateway: Gateway, params: Params, report: Report) -> None:
    report(20, _("Adding partitions"))
    gateway.admin.create_partitions(params["name"], params["total"])
    _wait_for_leaders(gateway, params["name"], params["total"], report)


def apply_delete(gateway: Gateway, params: Params, report: Report) -> None:
    report(20, _("Deleting"))
    gateway.admin.delete_topic(params["name"])
    report(60, _("Waiting until it is gone"))

    def is_gone() -> bool:
        try:
            gateway.admin.describe_topic(params["name"])
        except NotFound:
            return True
        return False

    if not _wait(is_gone):
        raise GatewayError(_("The cluster accepted it, but the topic is still there."))


def _wait_for_leaders(gateway: Gateway, name: str, partitions: int, report: Report) -> None:
    report(60, _("Waiting for leaders"))

    def all_led() -> bool:
        try:
            places = gateway.admin.describe_topic(name).partitions
        except GatewayError:
            return False
        return len(places) >= partitions and all(place.leader >= 0 for place in places)

    if not _wait(all_led):
        raise GatewayError(
            _("The cluster accepted it, but some partitions have no leader yet. See the topic.")
        )


def _wait(condition: Callable[[], bool]) -> bool:
    """Whether the condition came true within LEADER_WAIT_SECONDS."""
    deadline = time.monotonic() + LEADER_WAIT_SECONDS
    pause = 0.05
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(1.0, pause * 2)
    return True

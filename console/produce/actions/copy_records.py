"""Copy a range of a topic's records to another topic, of the cluster or of another one.

A plan belongs to the cluster that gets the records, since that one changes. Its resource is the
source, or the target if the source is of another cluster.

Parameters: `name` (the source), `cluster` (of the source), `to`, `to_cluster`, `copy` (the id of
CopyState), `spans`: partition (as text) → [first offset, offset before which it ends],
`keeps_partitions`, `count` (offsets in the spans), `exposed` (masked parts that the target does not
mask), and `user`, for whom the source is read: records that are masked for them are not copied. An
item is a partition of the source. A plan that stopped is resumed from the last acknowledged record;
the reasons say which records may be copied twice.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params, StopPoint
from console.actions.draft import Change, Draft, Facts, Figure, PlanRefused
from console.actions.models import Plan
from console.produce import write_outcome
from console.produce.actions.write_records import CLEANUP_POLICY, read_target, target_differences
from console.produce.models import CopyState
from console.records import masking_rules, read_records
from console.topics.actions.affected_groups import groups_reading
from console.topics.actions.topic_target import TOPIC_TARGET
from console.ui import numbers
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError, NotFound, Unreadable
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.gateway.producing import CopyOutcome, CopyRequest
from monitoring.models import Cluster
from monitoring.read_model.snapshot import Snapshot

SOURCE_PARTITIONS, SOURCE_ID, SOURCE_CLUSTER = "source_partitions", "source_id", "source_cluster"
_RECORDS_PER_CALL = 2000  # so many may be copied twice if a worker is lost
_RUN_S_MAX = 600.0


class CopyRecords(ItemsAction):
    action = "record.copy"
    verb = "record.write"
    target_type = TOPIC_TARGET
    form_page = "record-copy"
    can_stop = True

    def title(self, resource: str) -> str:
        return _("Copy records of “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Copy records")

    def targets(self, resource: str, params: Params) -> list[str]:
        return [params.get("to", resource)]

    def names_another_cluster(self, params: Params) -> bool:
        return is_to_other_cluster(params)

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        cluster = check_source(params)
        with source_gateway(gateway, params, cluster) as reader:
            source = reader.topics.describe_topic(params["name"])
            cluster_id = reader.wire.cluster_id()
        return {
            **read_target(gateway, params["to"]),
            SOURCE_ID: source.topic_id,
            SOURCE_CLUSTER: cluster_id,
            SOURCE_PARTITIONS: len(source.partitions),
            ITEMS: dict(params["spans"]),
        }

    def compared(self, facts: Facts) -> Facts:
        names = ("topic_id", "partitions", CLEANUP_POLICY, SOURCE_ID, SOURCE_CLUSTER)
        return {key: facts.get(key) for key in names}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        if then.get(SOURCE_CLUSTER) != now[SOURCE_CLUSTER]:
            return [_("The bootstrap servers of the source lead to another cluster now.")]
        if then[SOURCE_ID] != now[SOURCE_ID]:
            return [_("The topic that is copied was deleted and created again.")]
        return target_differences(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        self._check(facts, params)
        name, to = params["name"], params["to"]
        title = _("Copy records of “%(name)s” to “%(to)s”")
        if is_to_other_cluster(params):
            title = _("Copy records of “%(name)s” on %(cluster)s to “%(to)s”")
        return Draft(
            title=title % {"name": name, "to": to, "cluster": params["cluster"]},
            changes=[_change(number, span) for number, span in params["spans"].items()],
            figures=[
                Figure(_("Records"), numbers.count(params["count"]), _("at most: as offsets")),
                Figure(_("Partitions"), numbers.count(len(params["spans"]))),
                Figure(
                    _("Written to"),
                    _("the same partitions") if params["keeps_partitions"] else _("by key"),
                ),
            ],
            affected=groups_reading(to, snapshot),
            warnings=_warnings(params),
            after=_audited(params),
        )

    def items(self, params: Params) -> list[str]:
        return list(params.get("spans", ()))

    def apply_items(
        self, gateway: Gateway, params: Params, keys: list[str]
    ) -> Iterator[EndedItem | StopPoint]:
        cluster = check_source(params)
        state, _is_new = CopyState.objects.get_or_create(pk=params["copy"])
        source_settings: ClientSettings | None = None  # None = the cluster of the target
        if is_to_other_cluster(params):
            with for_cluster(cluster) as reader:
                source_settings = reader.kafka_client_settings
        end_s = time.monotonic() + _RUN_S_MAX
        yield StopPoint(_share_copied(params, state))
        for key in keys:
            for outcome in _copy_partition(gateway, source_settings, params, state, key):
                if outcome.error:
                    error = _error_of(key, outcome, state)
                    yield EndedItem(key, error)
                    raise GatewayError(error)
                if time.monotonic() > end_s:
                    raise GatewayError(Reason("copy_time_up", minutes=int(_RUN_S_MAX / 60)))
                check_source(params)
                yield StopPoint(_share_copied(params, state))
            yield EndedItem(key)

    def result_text(self, plan: Plan) -> str:
        return write_outcome.result_text(plan.params)

    def stopped_text(self, plan: Plan) -> str:
        return write_outcome.stopped_text(plan.params)

    def result_links(self, plan: Plan) -> list[tuple[str, str]]:
        return (
            write_outcome.links(plan.cluster, plan.params["to"], plan.params) if plan.params else []
        )

    def form_url(self, plan: Plan) -> str:
        source = plan.params.get("cluster", plan.cluster), plan.params.get("name", plan.resource)
        return reverse(self.form_page, args=source)

    def _check(self, facts: Facts, params: Params) -> None:
        """Raises PlanRefused if the target cannot take the records."""
        beyond = [number for number in params["spans"] if int(number) >= facts[SOURCE_PARTITIONS]]
        if beyond:
            text = _("There is no partition %(name)s. The topic has %(n)d.")
            raise PlanRefused(text % {"name": beyond[0], "n": facts[SOURCE_PARTITIONS]})
        largest = max(int(number) for number in params["spans"])
        if params["keeps_partitions"] and largest >= facts["partitions"]:
            text = _("“%(to)s” has only %(n)d partitions. Copy by key, or fewer partitions.")
            raise PlanRefused(text % {"to": params["to"], "n": facts["partitions"]})


def check_source(params: Params) -> Cluster:
    """The cluster of the source. Raises PlanRefused unless the user may read it unmasked, now."""
    topic = params["name"]
    user = get_user_model().objects.filter(pk=params["user"]).first()
    cluster = Cluster.objects.filter(slug=params["cluster"]).first()
    not_readable = PlanRefused(Reason("copy_source_hidden", topic=topic))
    if user is None or cluster is None:
        raise not_readable
    principal = Principal(user, "")
    try:
        read_records.require_readable(principal, cluster, topic)
    except (PermissionDenied, NotFound) as error:
        raise not_readable from error
    if masking_rules.is_masked(principal, cluster, topic):
        raise not_readable
    return cluster


def is_to_other_cluster(params: Params) -> bool:
    """Whether the records go to another cluster than their own."""
    source = params.get("cluster")
    return bool(source != params.get("to_cluster", source))


@contextmanager
def source_gateway(gateway: Gateway, params: Params, cluster: Cluster) -> Iterator[Gateway]:
    """The gateway to the source, which is of `cluster`; `gateway` is that of the target."""
    if not is_to_other_cluster(params):
        yield gateway
        return
    with for_cluster(cluster) as reader:
        yield reader


def _share_copied(params: Params, state: CopyState) -> float:
    """The share of the offsets that is copied, from 0 to 1."""
    copied: int = sum(at - params["spans"][key][0] for key, at in state.positions.items())
    return float(copied / max(1, params["count"]))


def _copy_partition(
    gateway: Gateway,
    source_settings: ClientSettings | None,
    params: Params,
    state: CopyState,
    key: str,
) -> Iterator[CopyOutcome]:
    """Copy a partition in calls; yields the outcome of each, after it was stored."""
    first, end = params["spans"][key]
    position = state.positions.get(key, first)
    while position < end:
        request = CopyRequest(
            params["name"],
            int(key),
            position,
            end,
            params["to"],
            params["keeps_partitions"],
            _RECORDS_PER_CALL,
        )
        try:
            outcome = gateway.producing.copy(request, source_settings)
        except Unreadable:
            lost = Reason("copy_lost", partition=key, n=_RECORDS_PER_CALL, offset=position)
            yield CopyOutcome(position, error=lost, unknown=_RECORDS_PER_CALL)
            return
        for each in outcome.written:
            state.add_outcome(each)
        position = outcome.next_offset
        state.positions[key] = position
        state.save()
        yield outcome


def _error_of(key: str, outcome: CopyOutcome, state: CopyState) -> Reason:
    """Why a partition was not copied to its end, and how far it was copied."""
    if isinstance(outcome.error, Reason) and outcome.error.code == "copy_lost":
        return outcome.error
    return Reason(
        "copy_stopped",
        partition=key,
        offset=outcome.next_offset,
        beyond=outcome.beyond,
        unknown=outcome.unknown,
        why=write_outcome.error_text(outcome.error, state),
    )


def _warnings(params: Params) -> list[str]:
    lines = [
        _(
            "The copies stay: this cannot be undone. An admin can purge the oldest records of a "
            "partition of the target."
        ),
        _(
            "If the copying stops, a resumed plan goes on after the last acknowledged record. If "
            "its worker is lost, up to %(n)s records may be copied twice."
        )
        % {"n": numbers.count(_RECORDS_PER_CALL)},
        _("Records of transactions that were not committed are left out."),
    ]
    if params["exposed"]:
        text = _(
            "Masked for others in “%(name)s”, but not in “%(to)s”: %(parts)s. Whoever may read "
            "“%(to)s” sees them there. Add masking rules first."
        )
        parts = ", ".join(params["exposed"])
        lines.insert(0, text % {"name": params["name"], "to": params["to"], "parts": parts})
    return lines


def _audited(params: Params) -> dict[str, Any]:
    """What the audit log has of a copy."""
    audited = {"to": params["to"], "spans": params["spans"]}
    if is_to_other_cluster(params):
        audited |= {"from_cluster": params["cluster"], "from": params["name"]}
    exposed = {"uncovered": ", ".join(params["exposed"])}
    return audited | exposed if params["exposed"] else audited


def _change(number: str, span: list[int]) -> Change:
    first, end = span
    text = _("offsets %(first)s to %(last)s")
    values = {"first": numbers.count(first), "last": numbers.count(end - 1)}
    return Change(_("Partition %(n)s") % {"n": number}, "", text % values)

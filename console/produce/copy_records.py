"""Copy a range of a topic's records to another topic of the cluster.

Parameters: `name` (the source), `to`, `copy` (the id of CopyState), `spans`: partition (as text) →
[first offset, offset before which it ends], `keeps_partitions`, `count` (offsets in the spans),
`exposed` (masked parts that the target does not mask), and `user` and `cluster`, for whom the
source is read: records that are masked for them are not copied. An item is a partition of the
source. A plan that stopped is resumed from the last acknowledged record; the reasons say which
records may be copied twice.
"""

import time
from collections.abc import Iterator
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions.action_type import ITEMS, ItemsAction, Params
from console.actions.draft import Change, Draft, Facts, Figure, PlanRefused
from console.actions.models import Plan
from console.produce import written
from console.produce.models import CopyState
from console.produce.write_records import POLICY, read_target, target_differences
from console.records import services as records
from console.topics.changes import shared
from console.ui import numbers
from monitoring.gateway.errors import GatewayError, NotFound, Unreadable
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.producing import CopyOutcome, CopyRequest
from monitoring.models import Cluster
from monitoring.reasons import Reason

SOURCE, SOURCE_ID = "source_partitions", "source_id"
_CALL_RECORDS = 2000  # a worker that is lost may have copied as many that the next one copies again
_RUN_S = 600.0


class CopyRecords(ItemsAction):
    name = "record.copy"
    verb = "record.write"
    target = shared.TOPIC_TARGET
    form_page = "record-copy"
    can_stop = True

    def title(self, resource: str) -> str:
        return _("Copy records of “%(name)s”") % {"name": resource}

    def targets(self, resource: str, params: Params) -> list[str]:
        return [params.get("to", resource)]

    def read(self, gateway: Gateway, params: Params) -> Facts:
        check_source(params)
        source = gateway.admin.describe_topic(params["name"])
        return {
            **read_target(gateway, params["to"]),
            SOURCE_ID: source.topic_id,
            SOURCE: len(source.partitions),
            ITEMS: dict(params["spans"]),
        }

    def compared(self, facts: Facts) -> Facts:
        return {key: facts.get(key) for key in ("topic_id", "partitions", POLICY, SOURCE_ID)}

    def describe(self, then: Facts, now: Facts) -> list[str]:
        if then[SOURCE_ID] != now[SOURCE_ID]:
            return [_("The topic that is copied was deleted and created again.")]
        return target_differences(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Any) -> Draft:
        self._check(facts, params)
        name, to = params["name"], params["to"]
        return Draft(
            title=_("Copy records of “%(name)s” to “%(to)s”") % {"name": name, "to": to},
            changes=[_change(number, span) for number, span in params["spans"].items()],
            figures=[
                Figure(_("Records"), numbers.count(params["count"]), _("at most: as offsets")),
                Figure(_("Partitions"), numbers.count(len(params["spans"]))),
                Figure(
                    _("Written to"),
                    _("the same partitions") if params["keeps_partitions"] else _("by key"),
                ),
            ],
            affected=shared.groups_reading(to, snapshot),
            warnings=_warnings(params),
            after=_audited(params),
        )

    def items(self, params: Params) -> list[str]:
        return list(params.get("spans", ()))

    def apply_items(
        self, gateway: Gateway, params: Params, keys: list[str]
    ) -> Iterator[tuple[str, str] | None]:
        check_source(params)
        state, _is_new = CopyState.objects.get_or_create(pk=params["copy"])
        end_s = time.monotonic() + _RUN_S
        for key in keys:
            yield None
            for outcome in _copy(gateway, params, state, key):
                if outcome.error:
                    error = _stopped(key, outcome, state)
                    yield key, error
                    raise GatewayError(error)
                if time.monotonic() > end_s:
                    raise GatewayError(Reason("copy_time_up", minutes=int(_RUN_S / 60)))
                check_source(params)
                yield None
            yield key, ""

    def result(self, plan: Plan) -> str:
        return written.reason(plan.params)

    def stopped(self, plan: Plan) -> str:
        return written.so_far(plan.params)

    def result_links(self, plan: Plan) -> list[tuple[str, str]]:
        return written.links(plan.cluster, plan.params["to"], plan.params) if plan.params else []

    def next_link(self, cluster: str, resource: str, is_done: bool) -> tuple[str, str]:
        return reverse("topic", args=[cluster, resource]), str(self.target.page_link)

    def _check(self, facts: Facts, params: Params) -> None:
        """Raises PlanRefused if the target cannot take the records."""
        beyond = [number for number in params["spans"] if int(number) >= facts[SOURCE]]
        if beyond:
            text = _("There is no partition %(name)s. The topic has %(n)d.")
            raise PlanRefused(text % {"name": beyond[0], "n": facts[SOURCE]})
        largest = max(int(number) for number in params["spans"])
        if params["keeps_partitions"] and largest >= facts["partitions"]:
            text = _("“%(to)s” has only %(n)d partitions. Copy by key, or fewer partitions.")
            raise PlanRefused(text % {"to": params["to"], "n": facts["partitions"]})


def check_source(params: Params) -> None:
    """Raises PlanRefused unless the user may read the source unmasked, now."""
    topic = params["name"]
    user = get_user_model().objects.filter(pk=params["user"]).first()
    cluster = Cluster.objects.filter(slug=params["cluster"]).first()
    hidden = PlanRefused(Reason("copy_source_hidden", topic=topic))
    if user is None or cluster is None:
        raise hidden
    principal = Principal(user, "")
    try:
        records.require_readable(principal, cluster, topic)
    except (PermissionDenied, NotFound) as error:
        raise hidden from error
    if records.is_masked(principal, cluster, topic):
        raise hidden


def _copy(gateway: Gateway, params: Params, state: CopyState, key: str) -> Iterator[CopyOutcome]:
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
            _CALL_RECORDS,
        )
        try:
            outcome = gateway.producing.copy(request)
        except Unreadable:
            lost = Reason("copy_lost", partition=key, n=_CALL_RECORDS, offset=position)
            yield CopyOutcome(position, error=lost, unknown=_CALL_RECORDS)
            return
        for each in outcome.written:
            state.add_outcome(each)
        position = outcome.next_offset
        state.positions[key] = position
        state.save()
        yield outcome


def _stopped(key: str, outcome: CopyOutcome, state: CopyState) -> Reason:
    if getattr(outcome.error, "code", "") == "copy_lost":
        return outcome.error  # type: ignore[return-value]  # it has a code: it is a Reason
    return Reason(
        "copy_stopped",
        partition=key,
        offset=outcome.next_offset,
        beyond=outcome.beyond,
        unknown=outcome.unknown,
        why=written.why(outcome.error, state),
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
        % {"n": numbers.count(_CALL_RECORDS)},
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
    audited = {"to": params["to"], "spans": params["spans"]}
    exposed = {"uncovered": ", ".join(params["exposed"])}
    return audited | exposed if params["exposed"] else audited


def _change(number: str, span: list[int]) -> Change:
    first, end = span
    text = _("offsets %(first)s to %(last)s")
    values = {"first": numbers.count(first), "last": numbers.count(end - 1)}
    return Change(_("Partition %(n)s") % {"n": number}, "", text % values)

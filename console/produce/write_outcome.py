"""What a plan wrote: its stored outcome as Reasons for the audit log, and as links."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from console.actions.action_type import Params
from console.produce.models import CopyState, WaitingRecords
from console.ui import numbers
from monitoring.error_reason import Reason, several

_PARTITIONS_SHOWN = 20
StoredOutcome = WaitingRecords | CopyState


def acknowledged_count(row: StoredOutcome) -> int:
    """How many records were acknowledged."""
    return sum(number for _first, _last, number in row.written.values())


def result_text(params: Params) -> str:
    """Where the records were acknowledged; "" if none was."""
    row = _row(params)
    where = _acknowledged_text(row) if row else ""
    return Reason("records_written", where=where) if where else ""


def stopped_text(params: Params) -> str:
    """How many records were acknowledged where, of a plan that was stopped."""
    row = _row(params)
    number = acknowledged_count(row) if row else 0
    if row is None or not number:
        return Reason("records_none_written")
    found = Reason(
        "records_written_of", n=number, total=params["count"], where=_acknowledged_text(row)
    )
    place = _stop_position(params, row)
    return Reason("copy_stopped_at", how=found, **place) if place else found


def _stop_position(params: Params, row: StoredOutcome) -> dict[str, Any]:
    """Where a copy stopped within a partition of its source."""
    positions = row.positions.items() if isinstance(row, CopyState) else ()
    for partition, position in positions:
        if position < params["spans"][partition][1]:
            return {"partition": partition, "offset": position}
    return {}


def error_text(error: str, row: StoredOutcome) -> str:
    """Why the writing stopped, and where the acknowledged records are."""
    where = _acknowledged_text(row)
    return Reason("records_why_and_where", why=error, where=where) if where else error


def links(cluster: str, topic: str, params: Params) -> list[tuple[str, str]]:
    """(URL, text) to the records that were acknowledged in each partition."""
    row = _row(params)
    page = reverse("messages", args=[cluster, topic])
    found = []
    for partition, first, last, number in _ranges(row) if row else ():
        text = _("Partition %(partition)s: %(n)s records, offsets %(first)s to %(last)s")
        if number == 1:
            text = _("Partition %(partition)s, offset %(first)s")
        values = {"partition": partition, "n": numbers.count(number)}
        values |= {"first": numbers.count(first), "last": numbers.count(last)}
        found.append((f"{page}?partition={partition}&offset={first}", text % values))
    return found[:_PARTITIONS_SHOWN]


def _row(params: Params) -> StoredOutcome | None:
    if "copy" in params:
        return CopyState.objects.filter(pk=params["copy"]).first()
    return WaitingRecords.objects.filter(pk=params["contents"]).first() if params else None


def _ranges(row: StoredOutcome) -> list[tuple[int, int, int, int]]:
    return sorted((int(partition), *place) for partition, place in row.written.items())


def _acknowledged_text(row: StoredOutcome) -> Reason | str:
    ranges = _ranges(row)
    reasons = [
        Reason("records_at", partition=partition, n=number, first=first, last=last)
        for partition, first, last, number in ranges[:_PARTITIONS_SHOWN]
    ]
    if len(ranges) > _PARTITIONS_SHOWN:
        reasons.append(Reason("records_more_partitions", n=len(ranges) - _PARTITIONS_SHOWN))
    return several(reasons)

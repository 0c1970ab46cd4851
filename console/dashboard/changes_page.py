"""The page of what changed on some days."""

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.dashboard.recent_changes import Change, Span, changes
from console.live import snapshot_cache
from console.ui import times
from console.ui.day_range import DayRangeForm, day_links
from console.ui.table import Column, Table
from monitoring.models import Cluster

CHANGES_MAX = 2_000


def context(cluster: Cluster, rights: Rights, query: QueryDict) -> dict[str, Any]:
    """The newest CHANGES_MAX changes on the chosen days; `is_cut`: there are older ones."""
    form = DayRangeForm(query)
    span = Span(form.start(), form.end())
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    found = changes(cluster, rights, snapshot, CHANGES_MAX + 1, span)
    table = Table(query, _columns(), "-at", id="changes")
    table.show(found[:CHANGES_MAX], lambda change: f"{change.subject} {change.text}")
    return {
        "form": form,
        "table": table,
        "days": day_links(table),
        "is_cut": len(found) > CHANGES_MAX,
        "changes_max": CHANGES_MAX,
        "shows_people": rights.may("plan.view"),
    }


def _columns() -> list[Column]:
    def at_ms(change: Change) -> int:
        return change.at_ms

    return [
        Column("at", _("Time"), at_ms, exported=lambda change: times.moment(change.at_ms)),
        Column("subject", _("Who or what"), lambda change: change.subject.lower(),
               exported=lambda change: change.subject),
        Column("change", _("Change"), lambda change: change.text),
    ]  # fmt: skip

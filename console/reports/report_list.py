"""The live list of a cluster's reports."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.reports import texts
from console.ui.table import Column, Table
from monitoring.models import Cluster
from monitoring.reports import report_lifecycle
from monitoring.reports.models import Report


def columns() -> list[Column]:
    return [
        Column("report", _("Report"), texts.kind_title),
        Column("period", _("Time"), lambda row: row.params["from_ms"]),
        Column("state", _("State"), lambda row: row.state),
        Column("by", _("Ordered by"), _author),
        Column("created", _("Ordered"), lambda row: row.created_at, numeric=True),
    ]


def context(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """The reports that these rights may read, the newest first.

    In memory: a cluster has at most KEPT_MAX reports, a database query cannot check the
    scope, and the search matches titles and times as shown.
    """
    rows = report_lifecycle.reports_of_cluster(cluster, rights.scope)
    table = Table(query, columns(), "-created", id="reports")
    table.show(rows, lambda row: f"{texts.kind_title(row)} {texts.period(row)} {_author(row)}")
    return {
        "table": table,
        "lines": [line(report) for report in table.rows],
        "may_run": rights.may("report.run"),
    }


def _author(report: Report) -> str:
    return report.created_by.get_username() if report.created_by else ""


def line(report: Report) -> dict[str, Any]:
    """A report as the list and the head of its page show it."""
    return {
        "report": report,
        "title": texts.kind_title(report),
        "period": texts.period(report),
        "state": texts.STATE_TITLES[report.state],
        "author": _author(report),
        "created_at_ms": int(report.created_at.timestamp() * 1000),
    }

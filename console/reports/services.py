"""What users do with reports: start, find, cancel, delete; with their rights and the audit log.

monitoring/reports/report_lifecycle.py does it. Each change and its audit row are written in one
transaction.

Who may see a report: everyone with `report.view` who sees all topics that it was computed from.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from django.db import transaction

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from monitoring.console_topics import hidden_on
from monitoring.models import Cluster
from monitoring.reports import report_lifecycle
from monitoring.reports.kinds import THROUGHPUT_AND_LAG
from monitoring.reports.models import Report


def find(principal: Principal, cluster: Cluster, report_id: uuid.UUID) -> Report | None:
    """The report; None if it does not exist or the user may not see it."""
    return report_lifecycle.get(cluster, report_id, principal.rights(cluster).scope)


def sees_own_topics(principal: Principal, cluster: Cluster) -> bool:
    """Whether the user sees the topics of this cluster that only admins see."""
    return any(map(principal.rights(cluster).scope.shows_topic, hidden_on(cluster)))


def start(
    principal: Principal, cluster: Cluster, from_ms: int, to_ms: int, *, with_hidden: bool = False
) -> Report:
    """Queue a report over the topics that the user sees.

    Topics that only admins see are left out, so that all can read it, unless `with_hidden`. Raises
    what monitoring.reports.report_lifecycle.start raises.
    """
    scope = principal.rights(cluster).scope
    if not with_hidden:
        scope = replace(scope, hidden_topics=hidden_on(cluster))
    params = {"from_ms": from_ms, "to_ms": to_ms}
    with transaction.atomic():
        report = report_lifecycle.start(THROUGHPUT_AND_LAG, cluster, params, principal.user, scope)
        audit_fields = {"kind": report.kind, **params}
        audit.record_by(principal, "report.run", cluster.slug, str(report.id), after=audit_fields)
    return report


def cancel(principal: Principal, report: Report) -> bool:
    """Cancel a report that has not finished; False if it has."""
    with transaction.atomic():
        if not report_lifecycle.cancel(report):
            return False
        audit.record_by(principal, "report.cancel", report.cluster.slug, str(report.id))
    return True


def delete(principal: Principal, report: Report) -> None:
    """Delete a report and its result."""
    with transaction.atomic():
        audit.record_by(principal, "report.delete", report.cluster.slug, str(report.id))
        report_lifecycle.delete(report)

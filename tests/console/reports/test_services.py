"""A change of a report and its audit row are written together or not at all."""

import pytest
from django.contrib.auth import get_user_model

from console.accounts.principal import Principal
from console.accounts.services import grant
from console.audit import write_entry as audit
from console.reports import services
from monitoring.models import Report
from monitoring.reports import result_files
from monitoring.reports.models import State
from tests.console.reports.conftest import T0, a_finished_report, a_report


@pytest.fixture
def principal() -> Principal:
    user = get_user_model().objects.create_user("admin-of-reports")
    grant(user, "admin", "")
    return Principal(user, "192.0.2.1")


@pytest.fixture
def _no_audit_row(monkeypatch):
    def fail(*args: object, **fields: object) -> None:
        raise OSError("the audit row cannot be written")

    monkeypatch.setattr(audit, "record_by", fail)


@pytest.mark.usefixtures("_no_audit_row")
def test_a_report_without_an_audit_row_is_not_started(cluster, principal):
    with pytest.raises(OSError, match="audit row"):
        services.start(principal, cluster, T0, T0 + 3_600_000)
    assert not Report.objects.exists()


@pytest.mark.usefixtures("_no_audit_row")
def test_a_report_without_an_audit_row_is_not_cancelled(cluster, principal):
    report = a_report(cluster)
    with pytest.raises(OSError, match="audit row"):
        services.cancel(principal, report)
    report.refresh_from_db()
    assert report.state == State.QUEUED


def test_the_result_of_a_deleted_report_is_removed_after_the_commit(
    cluster, principal, django_capture_on_commit_callbacks
):
    report = a_finished_report(cluster)
    report_id = report.id
    with django_capture_on_commit_callbacks(execute=True):
        services.delete(principal, report)
        assert report_id in result_files.stored_ids()
    assert report_id not in result_files.stored_ids()

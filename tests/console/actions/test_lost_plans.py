"""Plans that were lost on their way, and plans that are history."""

from datetime import timedelta

import pytest
from django.utils import timezone

from console.actions import models, plan_worker
from console.actions.finish_plan import finish
from console.actions.models import Plan
from console.audit.models import AuditEntry
from monitoring.error_reason import loads

pytestmark = pytest.mark.django_db
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def a_plan(state: str, age: timedelta) -> Plan:
    then = timezone.now() - age
    return Plan.objects.create(
        cluster="local",
        action="topic.create",
        resource="orders",
        params={},
        facts={},
        draft={"title": "", "changes": [], "undo": "Delete the topic.", "typed_name": ""},
        state=state,
        created_at=then,
        last_progress_at=then,
    )


def tidied(plan: Plan) -> Plan:
    plan_worker.end_lost()
    plan.refresh_from_db()
    return plan


def test_a_plan_that_no_worker_started_is_failed():
    plan = tidied(a_plan(models.QUEUED, 16 * MINUTE))
    assert plan.state == models.FAILED
    assert "No worker" in plan.outcome
    plan_worker.apply_queued(str(plan.pk))  # the message comes at last
    plan.refresh_from_db()
    assert plan.state == models.FAILED
    assert AuditEntry.objects.get().outcome == "failed"


def test_a_plan_whose_worker_was_killed_ends_with_a_warning():
    plan = tidied(a_plan(models.APPLYING, 4 * MINUTE))
    assert plan.state == models.FAILED
    assert "may or may not" in plan.outcome
    assert "may or may not" in AuditEntry.objects.get().detail


@pytest.mark.parametrize("state", [models.QUEUED, models.APPLYING])
def test_a_running_plan_does_not_expire(state):
    assert tidied(a_plan(state, MINUTE)).state == state


def test_old_plans_are_deleted_and_their_audit_entries_stay():
    plan = a_plan(models.APPLYING, 91 * DAY)
    plan_worker.end_lost()
    plan_worker.delete_old()
    assert not Plan.objects.filter(pk=plan.pk).exists()
    assert AuditEntry.objects.count() == 1


def test_the_audit_entry_of_a_change_says_how_to_undo_it():
    finish(a_plan(models.APPLYING, MINUTE), models.APPLYING, models.DONE, "")
    assert loads(AuditEntry.objects.get().detail) == "Undo: Delete the topic."

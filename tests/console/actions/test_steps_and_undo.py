"""How far a plan came, item by item, and the plan that takes it back."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from console.accounts.principal import Principal
from console.actions import models, plan_worker, registry, services, state_texts
from console.actions.draft import PlanRefused, StepState
from console.actions.models import Plan
from console.actions.progress import PlanProgress
from console.audit.models import AuditEntry
from console.topics.actions import wait_for_leaders
from monitoring.error_reason import Reason, loads
from monitoring.gateway.errors import Refused
from tests.console.actions.conftest import confirm_and_run
from tests.console.actions.test_services import (
    _queued,  # noqa: F401  (a fixture)
    creation,
    make,
    new_topic_name,
    partitions_of,
    propose,
)
from tests.support.pseudo_language import LANGUAGE, pseudo_language

pytestmark = pytest.mark.usefixtures("_queued")
ADDRESS = "10.0.0.9"


def states(plan: Plan) -> list[StepState]:
    return [step.state for step in registry.find(plan.action).plan_steps(plan)]


def test_all_steps_of_a_done_plan_are_done(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    assert states(plan) == [StepState.WAITING, StepState.WAITING]
    confirm_and_run(plan, operator)
    assert states(plan) == [StepState.DONE, StepState.DONE]
    assert plan.progress == 100


def test_the_failed_step_is_distinguished_from_done_steps(
    cluster, fake_cluster, operator, client_of, monkeypatch
):
    monkeypatch.setattr(wait_for_leaders, "WAIT_SECONDS", 0.1)
    name = new_topic_name()
    make(cluster, name, 1)
    plan = propose(operator, cluster, "topic.add-partitions", name, total=3)
    fake_cluster.down.add(2)
    confirm_and_run(plan, operator)
    assert states(plan) == [StepState.DONE, StepState.FAILED]
    page = client_of(operator).get(reverse("plan", args=["local", plan.pk])).content.decode()
    assert "Adding partitions: done" in page
    assert "Waiting for leaders: failed" in page


def test_after_a_failed_first_step_no_other_step_starts(cluster, fake_cluster, admin):
    name = new_topic_name()
    make(cluster, name)
    plan = propose(admin, cluster, "topic.delete", name)
    fake_cluster.fails["delete_topic"] = Refused("no")
    assert confirm_and_run(plan, admin, name).state == models.FAILED
    assert states(plan) == [StepState.FAILED, StepState.WAITING]


def test_the_step_of_a_lost_worker_is_unknown(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(operator, ADDRESS), "")
    plan.change_state(models.QUEUED, models.APPLYING)
    PlanProgress(plan, registry.find(plan.action)).start_step("create")
    Plan.objects.update(last_progress_at=timezone.now() - timedelta(minutes=4))
    plan_worker.end_lost()
    plan.refresh_from_db()
    assert states(plan) == [StepState.UNKNOWN, StepState.WAITING]


def test_a_stage_is_stored_as_a_key_and_translated_on_the_page(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(operator, ADDRESS), "")
    plan.refresh_from_db()
    assert (plan.current_step, state_texts.current_step(plan)) == ("queued", "Waiting for a worker")
    plan.current_step = "leaders"
    assert state_texts.current_step(plan) == "Waiting for leaders"
    plan.current_step = "Creating"  # of an older Aerie
    with translation.override("en"):
        assert state_texts.current_step(plan) == "Creating"


def test_the_undo_of_a_topic_creation_deletes_the_topic(cluster, admin, client_of):
    name = new_topic_name()
    done = propose(admin, cluster, "topic.create", name, **creation(name))
    assert services.undo_proposal(done, Principal(admin), cluster) is None, "nothing was done yet"
    confirm_and_run(done, admin)
    client = client_of(admin)
    undo = reverse("plan-undo", args=["local", done.pk])
    assert undo in client.get(reverse("plan", args=["local", done.pk])).content.decode()
    answer = client.post(undo)
    taking_back = Plan.objects.exclude(pk=done.pk).get()
    assert answer.url == reverse("plan", args=["local", taking_back.pk])
    assert (taking_back.action, taking_back.state) == ("topic.delete", models.PROPOSED)
    assert partitions_of(cluster, name) == 3, "a plan changes nothing"
    confirm_and_run(taking_back, admin, name)
    assert partitions_of(cluster, name) is None


def test_a_deletion_has_no_undo(cluster, admin, client_of):
    name = new_topic_name()
    make(cluster, name, 1)
    for action in ("topic.add-partitions", "topic.delete"):
        plan = propose(admin, cluster, action, name, total=3)
        confirm_and_run(plan, admin, name)
        assert plan.state == models.DONE
        assert services.undo_proposal(plan, Principal(admin), cluster) is None
        undo = reverse("plan-undo", args=["local", plan.pk])
        client = client_of(admin)
        assert undo not in client.get(reverse("plan", args=["local", plan.pk])).content.decode()
        assert client.post(undo).status_code == 422


def test_a_user_without_the_right_to_undo_gets_no_undo(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    confirm_and_run(plan, operator)
    assert services.undo_proposal(plan, Principal(operator), cluster) is None, (
        "operators delete no topics"
    )
    with pytest.raises(PlanRefused):
        services.propose_undo(plan, Principal(operator, ADDRESS), cluster)


def test_an_undo_reports_an_unavailable_cluster(cluster, fake_cluster, admin, client_of):
    name = new_topic_name()
    plan = propose(admin, cluster, "topic.create", name, **creation(name))
    confirm_and_run(plan, admin)
    fake_cluster.down.update(fake_cluster.broker_ids)
    answer = client_of(admin).post(reverse("plan-undo", args=["local", plan.pk]))
    assert answer.status_code == 503
    assert "could not be read" in answer.content.decode()


def test_audit_entries_store_untranslated_keys_and_values(cluster, admin):
    name = new_topic_name()
    with pseudo_language(), translation.override(LANGUAGE):
        plan = propose(admin, cluster, "topic.create", name, **creation(name, partitions=3))
        assert plan.draft["changes"][1]["name"] == "⟦Partitions⟧"
        confirm_and_run(plan, admin)
    entry = AuditEntry.objects.get(action="topic.create")
    assert entry.after == {"topic": name, "partitions": 3, "replication_factor": 1}
    detail = loads(entry.detail)
    assert isinstance(detail, Reason)
    assert detail.params["confirmed"].code == "plan_confirmed"


def test_the_reason_of_a_refused_plan_is_translated(cluster, admin, client_of):
    name = new_topic_name()
    plan = propose(admin, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(admin, ADDRESS), "")
    Plan.objects.update(last_progress_at=timezone.now() - timedelta(minutes=16))
    plan_worker.end_lost()
    plan_page = reverse("plan", args=["local", plan.pk])
    why = "No worker started it within 15 minutes. Nothing was changed. Plan the change again."
    assert why in client_of(admin).get(plan_page).content.decode()
    with pseudo_language():
        asked = {"headers": {"accept-language": LANGUAGE}}
        assert f"⟦{why}⟧" in client_of(admin).get(plan_page, **asked).content.decode()
        assert f"⟦{why}⟧" in client_of(admin).get(reverse("audit"), **asked).content.decode()

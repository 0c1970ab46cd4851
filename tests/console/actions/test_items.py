"""A plan of many items: each can fail alone, and what is not applied can be resumed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from console.accounts.principal import Principal
from console.actions import models, plan_worker, registry, services
from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import Change, Draft, Facts, PlanAlreadyConfirmed, PlanRefused, Proposal
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.topics.actions.topic_target import TOPIC_TARGET
from monitoring.gateway.errors import GatewayError, NotFound, Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from tests.console.actions.test_services import _queued  # noqa: F401  (a fixture)

pytestmark = pytest.mark.usefixtures("_queued")
NAMES = ["orders", "payments", "shipments"]


class DeleteTopics(ItemsAction):
    """Deletes several topics, for these tests."""

    action = "test.delete-topics"
    verb = "topic.create"
    target_type = TOPIC_TARGET
    form_page = "topics"
    has_target_page = False

    def title(self, resource: str) -> str:
        return "Delete topics"

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        found = {}
        for name in params["names"]:
            try:
                found[name] = gateway.topics.describe_topic(name).topic_id
            except NotFound:
                found[name] = ""
        return {ITEMS: found}

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        return Draft("Delete topics", [Change(name, "", "deleted") for name in facts[ITEMS]])

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return [f"{key} changed." for key in then[ITEMS] if then[ITEMS][key] != now[ITEMS][key]]

    def items(self, params: Params) -> list[str]:
        return list(params["names"])

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        for key in keys:
            try:
                gateway.topics.delete_topic(key)
            except (NotFound, Refused) as error:
                yield EndedItem(key, error.message)
            else:
                yield EndedItem(key)

    def undo(self, plan: Plan) -> Proposal | None:
        return Proposal(self.action, "", {"names": sorted(plan.applied_items)})


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    registry.register(DeleteTopics())
    yield
    del registry._types[DeleteTopics.action]


@pytest.fixture
def plan(cluster, fake_cluster, operator) -> Plan:
    for name in NAMES:
        fake_cluster.create_topic(name)
    by = Principal(operator, "10.0.0.9")
    return services.propose(by, cluster, DeleteTopics.action, "all", {"names": NAMES})


def confirmed(plan: Plan, user: Any) -> Plan:
    services.confirm(plan, Principal(user, "10.0.0.9"), "")
    return ran(plan)


def ran(plan: Plan) -> Plan:
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


@pytest.fixture
def partly(plan, fake_cluster, operator, monkeypatch) -> Plan:
    """A plan whose second item failed."""
    delete = fake_cluster.gateway().topics.__class__.delete_topic

    def fails(admin: Any, name: str) -> None:
        if name == "payments":
            raise Refused("policy forbids it")
        delete(admin, name)

    with monkeypatch.context() as patch:
        patch.setattr(fake_cluster.gateway().topics.__class__, "delete_topic", fails)
        return confirmed(plan, operator)


def test_every_item_of_a_done_plan_is_done(plan, operator):
    confirmed(plan, operator)
    assert plan.state == models.DONE
    assert plan.applied_items == set(NAMES)


def test_an_item_that_fails_does_not_stop_the_others_and_the_page_lists_it(
    partly, operator, client_of
):
    assert partly.state == models.FAILED
    assert partly.applied_items == {"orders", "shipments"}
    page = client_of(operator).get(reverse("plan", args=["local", partly.pk])).content.decode()
    assert "1 of 3 could not be changed" in page
    assert "2 of 3 done" in page
    assert "Policy forbids it." in page
    assert reverse("plan-resume", args=["local", partly.pk]) in page


def test_a_resumed_plan_applies_only_what_is_not_done(partly, fake_cluster, operator, client_of):
    fake_cluster.create_topic("orders")  # changed since, but its item is done
    client_of(operator).post(reverse("plan-resume", args=["local", partly.pk]))
    ran(partly)
    assert partly.state == models.DONE
    assert set(fake_cluster.topics) == {"orders"}
    assert AuditEntry.objects.count() == 2
    assert not services.can_resume(partly)


def test_a_resumed_plan_whose_other_items_changed_stays_failed(
    partly, fake_cluster, operator, cluster
):
    fake_cluster.topics.pop("payments")
    fake_cluster.create_topic("payments")
    services.resume(partly, Principal(operator, "10.0.0.9"))
    ran(partly)
    assert partly.state == models.FAILED
    assert "payments changed." in partly.outcome
    assert partly.applied_items == {"orders", "shipments"}


def test_a_lost_worker_leaves_a_plan_that_can_be_resumed(plan, operator):
    services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    plan.change_state(models.QUEUED, models.APPLYING, item_outcomes={"orders": ""})
    Plan.objects.update(last_progress_at=timezone.now() - timedelta(minutes=4))
    plan_worker.end_lost()
    plan.refresh_from_db()
    assert services.can_resume(plan)


def test_the_undo_of_a_plan_that_failed_takes_back_what_was_applied(partly, operator, cluster):
    proposal = services.undo_proposal(partly, Principal(operator), cluster)
    assert proposal is not None
    assert proposal.params == {"names": ["orders", "shipments"]}


def test_nothing_is_resumed_of_a_draft_or_without_the_right(
    plan, partly, operator, viewer, cluster, client_of
):
    resume = reverse("plan-resume", args=["local", partly.pk])
    assert client_of(viewer).post(resume).status_code == 403
    with pytest.raises(PlanRefused):
        services.resume(partly, Principal(viewer, "10.0.0.9"))
    services.resume(partly, Principal(operator, "10.0.0.9"))
    with pytest.raises(PlanAlreadyConfirmed):
        services.resume(partly, Principal(operator, "10.0.0.9"))
    response = client_of(operator).post(resume)
    assert (response.status_code, response.url) == (302, reverse("plan", args=["local", partly.pk]))


@pytest.mark.parametrize("state", [models.DONE, models.FAILED])
def test_nothing_is_resumed_of_a_plan_that_applied_all(plan, operator, client_of, state):
    confirmed(plan, operator)
    Plan.objects.filter(pk=plan.pk).update(state=state)
    plan.refresh_from_db()
    assert plan.applied_items == set(NAMES)
    with pytest.raises(PlanRefused, match="left to apply"):
        services.resume(plan, Principal(operator, "10.0.0.9"))
    response = client_of(operator).post(reverse("plan-resume", args=["local", plan.pk]))
    assert response.status_code == 422
    assert "left to apply" in response.content.decode()
    plan.refresh_from_db()
    assert plan.state == state


def test_an_error_of_the_cluster_stops_the_plan_and_keeps_what_was_done(
    plan, operator, monkeypatch
):
    def two(self, gateway, params, keys):
        yield EndedItem("orders")
        raise GatewayError("gone")

    monkeypatch.setattr(DeleteTopics, "apply_items", two)
    confirmed(plan, operator)
    assert (plan.state, plan.applied_items) == (models.FAILED, {"orders"})

"""Reassignments and elections: planned, applied, continued, cancelled and undone."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from console.accounts.principal import Principal
from console.actions import models, plan_queue, plan_worker, services
from console.actions.expiry import QUEUED_AGE_MAX, WORKER_SILENT_MAX
from console.actions.models import Plan
from console.reassignments.actions import reassign
from monitoring.error_reason import Reason, loads
from monitoring.gateway.errors import ClusterUnavailable, Unsupported
from monitoring.models import Cluster
from tests.console.conftest import BROKERS, sample, sample_next, tick_now
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)


@pytest.fixture
def sent(monkeypatch) -> list[Plan]:
    found: list[Plan] = []
    monkeypatch.setattr(plan_queue, "send", found.append)
    monkeypatch.setattr(reassign, "WATCH_S", 0.0)
    monkeypatch.setattr(reassign, "POLL_S", 0.0)
    monkeypatch.setattr(reassign, "END_DELAY_S", 0.0)
    return found


@pytest.fixture
def fake(sampled, fake_cluster: FakeCluster, sent) -> FakeCluster:  # noqa: F811
    sample_next(brokers=[broker | {"source": "none"} for broker in BROKERS])
    fake_cluster.create_topic("moving", 2, 1)
    return fake_cluster


@pytest.fixture
def browser(fake, client_of, admin):
    return client_of(admin)


FORM = reverse("reassign", args=["local"])
PAGE = reverse("reassignments", args=["local"])


def post(browser, **form):
    told = {"plan": "1", "topic": "moving", "brokers": "1, 2", "factor": 2} | form
    return browser.post(FORM, told)


def newest(answer) -> Plan:
    assert answer.status_code == 302, answer.content.decode()
    return Plan.objects.order_by("-created_at")[0]


def run(plan: Plan) -> Plan:
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


def apply(plan: Plan) -> Plan:
    services.confirm(plan, Principal(plan.created_by), "")
    return run(plan)


def test_a_new_factor_is_planned_applied_and_undone(browser, fake):
    before = list(fake.topics["moving"].replicas)
    plan = newest(post(browser))
    assert fake.topics["moving"].replicas == before, "a plan changes nothing"
    assert {each["value"] for each in plan.draft["figures"]} >= {"2"}
    assert apply(plan).state == models.DONE, plan.outcome
    assert {len(ids) for ids in fake.topics["moving"].replicas} == {2}
    undo = newest(browser.post(reverse("plan-undo", args=["local", plan.pk])))
    assert apply(undo).state == models.DONE, undo.outcome
    assert fake.topics["moving"].replicas == before


def test_an_assignment_by_partition_moves_only_what_it_names(browser, fake):
    kept = fake.topics["moving"].replicas[0]
    plan = newest(post(browser, assignment="1: 2, 1", factor=""))
    assert list(plan.params["moves"]) == ["moving-1"]
    assert apply(plan).state == models.DONE, plan.outcome
    assert fake.topics["moving"].replicas == [kept, (2, 1)]


def test_a_long_reassignment_is_continued_until_it_ends(browser, fake, sent):
    fake.is_slow = True
    plan = apply(newest(post(browser)))
    assert plan.state == models.QUEUED
    assert sent[-1] == plan
    assert run(plan).state == models.QUEUED
    assert fake.calls.count("alter_reassignments") == 1
    for key, replicas in fake.reassigning.items():
        fake.topics[key[0]].replicas[key[1]] = replicas
    fake.reassigning.clear()
    assert run(plan).state == models.DONE, plan.outcome


@pytest.mark.parametrize(
    ("state", "late"), [(models.APPLYING, WORKER_SILENT_MAX), (models.QUEUED, QUEUED_AGE_MAX)]
)
def test_a_reassignment_whose_worker_was_lost_is_continued(browser, fake, sent, state, late):
    fake.is_slow = True
    plan = apply(newest(post(browser)))
    earlier = timezone.now() - late - timedelta(minutes=1)
    Plan.objects.filter(pk=plan.pk).update(state=state, last_progress_at=earlier)
    sent.clear()
    plan_worker.end_lost()
    plan.refresh_from_db()
    assert (plan.state, sent) == (models.QUEUED, [plan])


def test_a_cluster_that_does_not_answer_for_a_time_does_not_end_it(browser, fake):
    fake.is_slow = True
    plan = apply(newest(post(browser)))
    fake.fails["cluster_id"] = ClusterUnavailable("no answer")
    assert run(plan).state == models.APPLYING


def test_a_reassignment_is_listed_with_its_progress_and_cancelled(browser, fake):
    fake.is_slow = True
    moving = apply(newest(post(browser)))
    shown = browser.get(PAGE).content.decode()
    assert "moving" in shown
    url = reverse("reassignments-cancel", args=["local"])
    plan = apply(newest(browser.post(url, {"topic": "moving"})))
    assert plan.state == models.DONE, plan.outcome
    assert fake.reassigning == {}
    assert run(moving).state == models.FAILED
    assert "cancelled" in loads(moving.item_outcomes["moving-0"])
    assert "No partition is being reassigned" in browser.get(PAGE).content.decode()


def test_leaders_are_elected(browser, fake):
    fake.create_topic("skewed", 2, 2)
    first, second = fake.topics["skewed"].replicas
    fake.leaders = {("skewed", 0): first[1], ("skewed", 1): second[1]}
    assert "skewed" in browser.get(PAGE).content.decode()
    url = reverse("elect-leaders", args=["local"])
    plan = newest(browser.post(url, {"topic": "skewed", "partition": "0"}))
    assert apply(plan).state == models.DONE, plan.outcome
    assert fake.leaders == {("skewed", 1): second[1]}
    plan = newest(browser.post(url))
    assert [each["name"] for each in plan.draft["changes"]] == ["skewed-1"]
    assert apply(plan).state == models.DONE, plan.outcome
    assert browser.post(url).status_code == 422


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"factor": 3}, "3 replicas need at least as many brokers"),
        ({"brokers": "1, 9"}, "Broker “9” is not up"),
        ({"brokers": ""}, "Choose at least one broker"),
        ({"assignment": "0 = 1"}, "Line 1 is not like orders-0"),
        ({"assignment": "0: 1, 1"}, "each once"),
        ({"assignment": "0: 7"}, "broker 7 is not up"),
        ({"assignment": "other-0: 1"}, "which is not selected"),
        ({"assignment": "5: 1"}, "There is no partition “moving-5”"),
        ({"topic": "absent"}, "There is no topic “absent”"),
        ({"topic": "__consumer_offsets"}, "is an internal topic"),
        ({"topic": ""}, "There is no topic"),
    ],
)
def test_an_invalid_form_says_what_is_wrong(browser, form, error):
    answer = post(browser, **form)
    assert answer.status_code == 422
    assert error in answer.content.decode()


def test_nothing_to_change_is_said(browser, fake):
    fake.topics["moving"].replicas[:] = [(1,), (2,)]
    answer = post(browser, factor="")
    assert "Nothing changes" in answer.content.decode()


def test_a_cluster_without_the_request_says_so_before_the_form(browser, fake):
    reason = Reason("api_not_offered", api="AlterPartitionReassignments")
    fake.fails["check_reassignments"] = Unsupported(reason)
    answer = browser.get(FORM, {"topic": "moving"})
    assert answer.status_code == 422
    assert "do not offer AlterPartitionReassignments" in answer.content.decode()


def test_brokerd_is_said_to_move_no_replicas_before_the_form(browser, fake):
    sample(number=tick_now() + 2)
    answer = browser.get(FORM, {"topic": "moving"})
    assert answer.status_code == 422
    assert "brokerd cannot move replicas" in answer.content.decode()


def test_warnings_name_small_disks_and_min_insync_replicas(browser, fake):
    fake.topics["moving"].configs["min.insync.replicas"] = "3"
    plan = newest(post(browser))
    assert any("acks=all" in text for text in plan.draft["warnings"])


def test_an_operator_sees_the_page_and_changes_nothing(fake, client_of, operator):
    browser = client_of(operator)
    assert browser.get(PAGE).status_code == 200
    assert post(browser).status_code == 403
    assert browser.post(reverse("elect-leaders", args=["local"])).status_code == 403


def test_a_read_only_cluster_refuses_the_form(browser, fake):
    Cluster.objects.update(read_only=True)
    assert post(browser).status_code == 422

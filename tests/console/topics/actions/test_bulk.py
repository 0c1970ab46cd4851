"""Changes to several topics in one plan, on a cluster in memory."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_queue, services
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.topics.bulk_plans import propose_bulk
from monitoring.gateway.errors import Refused
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.support.fake_gateway import FakeCluster, FakeTopicAdmin

URL = "/c/local/change-topics"
NAMES = ["orders", "payments"]


@pytest.fixture
def both(sampled, fake_cluster: FakeCluster, monkeypatch) -> FakeCluster:
    monkeypatch.setattr(plan_queue, "send", lambda plan: None)
    for name in (*NAMES, "console.audit"):
        fake_cluster.create_topic(name, 2)
        fake_cluster.produce(name, 0, b"1", b"2")
    fake_cluster.topics["orders"].configs["retention.ms"] = "5"
    return fake_cluster


def planned(user, action: str, names=NAMES, **configs: str | None) -> Plan:
    changes = {name.replace("_", "."): value for name, value in configs.items()}
    cluster = Cluster.objects.get(slug="local")
    return propose_bulk(Principal(user, ""), cluster, action, names, changes)


def test_topics_are_deleted_by_one_plan(both, admin):
    plan = planned(admin, "topics.delete")
    assert plan.draft["typed_name"] == "delete 2"
    assert "“orders” is read by billing" in plan.draft["affected"][0]
    assert set(both.topics) >= set(NAMES), "a plan changes nothing"
    assert confirm_and_run(plan, admin).state == models.DONE
    assert not set(both.topics) & set(NAMES)


def test_all_records_of_topics_are_deleted_and_later_ones_kept(both, admin):
    plan = planned(admin, "topics.purge")
    both.produce("orders", 0, b"later")
    assert confirm_and_run(plan, admin).state == models.DONE
    assert both.topics["orders"].starts == {0: 2}


def test_a_smaller_retention_of_any_topic_is_warned_of_once(both, operator):
    shorter = planned(operator, "topics.configure", retention_ms="1")
    [warning] = shorter.draft["warnings"]
    assert "beyond the new “retention.ms” are deleted soon" in warning
    longer = planned(operator, "topics.configure", ["orders"], retention_ms="1000")
    assert longer.draft["warnings"] == []


def test_a_setting_is_set_and_the_undo_restores_each_topic(both, operator):
    plan = planned(operator, "topics.configure", retention_ms="1000")
    assert confirm_and_run(plan, operator).state == models.DONE
    assert {both.topics[name].configs["retention.ms"] for name in NAMES} == {"1000"}
    undo = services.propose_undo(plan, Principal(operator, ""), Cluster.objects.get(slug="local"))
    assert confirm_and_run(undo, operator).state == models.DONE
    assert both.topics["orders"].configs == {"retention.ms": "5"}
    assert both.topics["payments"].configs == {}


def test_a_topic_that_fails_is_listed_and_can_be_resumed(both, admin, monkeypatch):
    plan = planned(admin, "topics.delete")
    delete = FakeTopicAdmin.delete_topic

    def fail(self, name):
        if name == "payments":
            raise Refused("not today")
        delete(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(FakeTopicAdmin, "delete_topic", fail)
        assert confirm_and_run(plan, admin).state == models.FAILED
    assert plan.applied_items == {"orders"}
    assert "not today" in plan.item_outcomes["payments"]
    assert resume_and_run(plan, admin).state == models.DONE
    assert not set(both.topics) & set(NAMES)


def test_a_topic_that_changed_since_the_review_stops_the_plan(both, admin):
    plan = planned(admin, "topics.delete")
    both.create_topic("payments", 2)
    assert confirm_and_run(plan, admin).state == models.REFUSED
    assert set(NAMES) <= set(both.topics)


@pytest.mark.parametrize(
    ("names", "why"), [(["orders", "gone"], "no topic “gone”"), (["__x"], "internal topic")]
)
def test_what_cannot_be_changed_is_refused(both, admin, names, why):
    both.create_topic("__x")
    with pytest.raises(PlanRefused, match=why):
        planned(admin, "topics.delete", names)


def test_a_setting_that_the_brokers_refuse_is_refused(both, operator):
    with pytest.raises(PlanRefused, match=r"no\.such"):
        planned(operator, "topics.configure", no_such="1")


@pytest.mark.parametrize("action", ["topics.delete", "topics.purge"])
def test_a_plan_needs_the_right_to_each_topic(both, operator, admin, action):
    with pytest.raises(PlanRefused):
        planned(operator, action)
    with pytest.raises(PlanRefused):
        planned(operator, "topics.configure", ["orders", "console.audit"], retention_ms="1")
    assert not Plan.objects.exists()


def test_the_list_leads_by_a_form_to_the_review(both, client_of, operator):
    client = client_of(operator)
    page = client.get("/c/local/topics").content.decode()
    assert 'form="selection" name="topic" value="orders"' in page
    assert 'value="topics.delete"' not in page, "operators delete no topics"
    posted = {"action": "topics.configure", "topic": NAMES}
    form = client.post(URL, posted)
    assert form.status_code == 200
    assert "payments" in form.content.decode()
    values = {"plan": "1", "setting": "retention.ms", "value": "9"}
    answer = client.post(URL, posted | values)
    plan = Plan.objects.get()
    assert answer.url == reverse("plan", args=["local", plan.pk])
    assert plan.params["configs"] == {name: {"retention.ms": "9"} for name in NAMES}
    assert client.get(answer.url).status_code == 200


def test_a_duration_may_have_a_unit_and_each_topic_gets_milliseconds(both, client_of, operator):
    posted = {"action": "topics.configure", "topic": NAMES, "plan": "1", "setting": "retention.ms"}
    client = client_of(operator)
    assert client.post(URL, posted | {"value": "2 h"}).status_code == 302
    assert Plan.objects.get().params["configs"] == {
        name: {"retention.ms": "7200000"} for name in NAMES
    }
    wrong = client.post(URL, posted | {"value": "2 GiB"})
    assert wrong.status_code == 422
    assert "is no duration" in wrong.content.decode()


def test_a_viewer_sees_no_boxes(both, client_of, viewer):
    assert 'form="selection"' not in client_of(viewer).get("/c/local/topics").content.decode()


@pytest.mark.parametrize(
    "posted",
    [
        {},
        {"action": "topics.configure"},
        {"action": "topic.create", "topic": NAMES},
        {"action": "topics.configure", "topic": NAMES, "plan": "1", "setting": "no name"},
        {"action": "topics.delete", "topic": ["console.audit"], "plan": "1"},
        {"action": "topics.delete", "topic": NAMES, "plan": "1"},
    ],
)
def test_a_hand_made_post_plans_nothing(both, client_of, operator, posted):
    assert client_of(operator).post(URL, posted).status_code == 422
    assert not Plan.objects.exists()


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("outsider", 404)])
def test_a_post_without_the_right_is_refused(both, client_of, request, role, status):
    posted = {"action": "topics.delete", "topic": NAMES, "plan": "1"}
    client = client_of(request.getfixturevalue(role))
    assert client.post(URL, posted).status_code == status
    assert not Plan.objects.exists()

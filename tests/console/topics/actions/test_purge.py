"""Records deleted before an offset or a time, on a cluster in memory."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_queue, services
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.topics.purge_plans import Purge, propose_purge
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.support.fake_gateway import FakeCluster

URL = "/c/local/topics/orders/purge"
NEVER_MS = 4_000_000_000_000


@pytest.fixture
def orders(sampled, fake_cluster: FakeCluster, monkeypatch) -> FakeCluster:
    monkeypatch.setattr(plan_queue, "send", lambda plan: None)
    fake_cluster.create_topic("orders", 3)
    for partition, count in ((0, 10), (1, 4)):
        fake_cluster.produce("orders", partition, *(b"%d" % n for n in range(count)))
    return fake_cluster


def planned(user, **purge: object) -> Plan:
    return propose_purge(
        Principal(user, ""), Cluster.objects.get(slug="local"), "orders", Purge(**purge)
    )


def test_all_records_are_deleted_but_not_those_written_after_the_review(orders, admin):
    plan = planned(admin)
    assert plan.params["offsets"] == {"0": 10, "1": 4}, "an empty partition has nothing to delete"
    assert plan.draft["figures"][0]["value"] == "14"
    orders.produce("orders", 0, b"later")
    assert confirm_and_run(plan, admin).state == models.DONE
    assert orders.topics["orders"].starts == {0: 10, 1: 4}


def test_an_offset_is_the_first_that_is_kept(orders, admin):
    plan = planned(admin, before_offset=6)
    assert plan.params["offsets"] == {"0": 6, "1": 4}, "at most to the end of a partition"
    assert "deletes 6 records" in plan.draft["changes"][0]["note"]
    assert "deletes all 4 records" in plan.draft["changes"][1]["note"]
    with pytest.raises(PlanRefused, match="Offset 11 is beyond the end of every partition"):
        planned(admin, before_offset=11)


def test_a_time_is_resolved_to_offsets(orders, admin):
    at_ms = orders.topics["orders"].records[0][3].timestamp_ms
    assert planned(admin, before_ms=at_ms).params["offsets"] == {"0": 3, "1": 3}
    assert planned(admin, before_ms=NEVER_MS).params["offsets"] == {"0": 10, "1": 4}


def test_only_the_chosen_partitions_are_purged(orders, admin):
    assert planned(admin, partitions=(1,)).params["offsets"] == {"1": 4}
    with pytest.raises(PlanRefused, match="no partition 7"):
        planned(admin, partitions=(7,))
    with pytest.raises(PlanRefused, match="no records"):
        planned(admin, partitions=(2,))


def test_a_compacted_topic_is_refused_with_the_reason(orders, admin):
    orders.topics["orders"].configs["cleanup.policy"] = "compact"
    with pytest.raises(PlanRefused, match="only of topics whose policy contains “delete”"):
        planned(admin)


def test_it_cannot_be_undone_and_says_so(orders, admin):
    plan = planned(admin)
    assert "cannot be undone" in plan.draft["warnings"][0]
    assert plan.draft["typed_name"] == "orders"
    with pytest.raises(PlanRefused, match="type “orders” exactly"):
        services.confirm(plan, Principal(admin, ""), "order")
    done = confirm_and_run(plan, admin)
    cluster = Cluster.objects.get(slug="local")
    assert services.undo_proposal(done, Principal(admin, ""), cluster) is None


def test_a_topic_that_was_created_again_meanwhile_is_not_purged(orders, admin):
    plan = planned(admin)
    orders.create_topic("orders", 3)
    assert confirm_and_run(plan, admin).state == models.REFUSED
    assert orders.topics["orders"].starts == {}


def test_a_partition_that_fails_is_listed_and_can_be_resumed(orders, admin):
    plan = planned(admin)
    log = orders.topics["orders"].records[1]
    cut = log[:]
    log.clear()
    assert confirm_and_run(plan, admin).state == models.FAILED
    assert plan.applied_items == {"0"}
    log.extend(cut)
    assert resume_and_run(plan, admin).state == models.DONE


def test_the_form_leads_to_the_review(orders, client_of, admin):
    answer = client_of(admin).post(URL, {"how": "offset", "offset": "2", "partitions": "0"})
    plan = Plan.objects.get()
    assert answer.url == reverse("plan", args=["local", plan.pk])
    page = client_of(admin).get(answer.url).content.decode()
    assert "Delete records" in page
    assert "This cannot be undone." in page


@pytest.mark.parametrize(
    "posted",
    [{}, {"how": "time"}, {"how": "offset"}, {"how": "all", "partitions": "x"}, {"how": "other"}],
)
def test_bad_input_is_an_error_of_the_form(orders, client_of, admin, posted):
    assert client_of(admin).post(URL, posted).status_code == 422
    assert not Plan.objects.exists()


@pytest.mark.parametrize(
    ("role", "status"), [("viewer", 403), ("operator", 403), ("outsider", 404)]
)
def test_a_post_without_the_right_is_refused(orders, client_of, request, role, status):
    client = client_of(request.getfixturevalue(role))
    assert client.post(URL, {"how": "all"}).status_code == status
    assert not Plan.objects.exists()

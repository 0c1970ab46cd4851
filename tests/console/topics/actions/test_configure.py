"""The page of a topic's settings, on a cluster in memory."""

import pytest
from django.urls import reverse

from console.actions.models import Plan
from monitoring.gateway.errors import ClusterUnavailable
from tests.support.fake_gateway import FakeCluster

URL = "/c/local/topics/orders/configure"


@pytest.fixture
def orders(sampled, fake_cluster: FakeCluster) -> FakeCluster:
    fake_cluster.create_topic("orders", 2, configs={"retention.ms": "60000"})
    return fake_cluster


def sent(**changes: str) -> dict[str, str]:
    values = {"retention.ms": "60000", "cleanup.policy": "delete"}
    return values | {f"opened:{name}": value for name, value in values.items()} | changes


def test_a_change_leads_to_a_plan_with_value_and_meaning(orders, client_of, operator):
    answer = client_of(operator).post(URL, sent(**{"retention.ms": "3600000"}))
    plan = Plan.objects.get()
    assert answer.url == reverse("plan", args=["local", plan.pk])
    assert plan.params["configs"] == {"retention.ms": "3600000"}
    (change,) = plan.draft["changes"]
    assert (change["before"], change["after"], change["note"]) == (
        "60000", "3600000", "60 s → 60 min",
    )  # fmt: skip
    assert plan.draft["warnings"] == []


def test_a_duration_with_a_unit_is_a_plain_number_in_the_plan(orders, client_of, operator):
    client_of(operator).post(URL, sent(**{"retention.ms": "7d"}))
    plan = Plan.objects.get()
    assert plan.params["configs"] == {"retention.ms": "604800000"}
    (change,) = plan.draft["changes"]
    assert (change["after"], change["note"]) == ("604800000", "60 s → 7 days")
    wrong = client_of(operator).post(URL, sent(**{"retention.ms": "7 x"}))
    assert wrong.status_code == 422
    assert "for example 7d, 36h or 90 min" in wrong.content.decode()


def test_a_smaller_retention_warns_of_the_records_that_it_deletes(orders, client_of, operator):
    client_of(operator).post(URL, sent(**{"retention.ms": "1000"}))
    (warning,) = Plan.objects.get().draft["warnings"]
    assert "The undo does not bring them back." in warning


def test_the_tab_is_the_form_for_those_who_may_change_settings(
    orders, client_of, operator, viewer, clusters
):
    tab = "/c/local/topics/orders/config"
    field = 'name="opened:retention.ms" value="60000"'
    page = client_of(operator).get(tab).content.decode()
    assert f'action="{URL}"' in page
    assert field in page
    assert page.index('id="id_retention.ms"') < page.index('id="id_cleanup.policy"')
    assert "table-search" in client_of(operator).get(f"{tab}?view=table").content.decode()
    assert field not in client_of(viewer).get(tab).content.decode()
    clusters[0].read_only = True
    clusters[0].save()
    assert field not in client_of(operator).get(tab).content.decode()


def test_a_change_meanwhile_is_told_and_nothing_is_planned(orders, client_of, operator):
    orders.topics["orders"].configs["retention.ms"] = "5"
    answer = client_of(operator).post(URL, sent(**{"cleanup.policy": "compact"}))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "“retention.ms” was “60000” and is “5” now" in page
    assert 'name="opened:retention.ms" value="5"' in page
    assert not Plan.objects.exists()


def test_a_cluster_that_does_not_answer_is_503(orders, client_of, operator):
    orders.fails["describe_configs"] = ClusterUnavailable("away")
    for answer in (client_of(operator).get(URL), client_of(operator).post(URL, sent())):
        assert answer.status_code == 503
        assert "could not be read" in answer.content.decode()


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("outsider", 404)])
def test_a_post_without_the_right_is_refused(orders, client_of, request, role, status):
    client = client_of(request.getfixturevalue(role))
    assert client.post(URL, sent(**{"retention.ms": "1"})).status_code == status
    assert not Plan.objects.exists()

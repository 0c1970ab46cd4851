"""Records copied to a topic of another cluster: the rights to both, and where the plan belongs."""

from collections.abc import Iterator

import pytest

from console.accounts.principal import Principal
from console.accounts.services import grant
from console.actions import models
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.produce.copy_plans import RangesToCopy, clusters_to_copy_to, propose_copy
from console.records.models import MaskingRule, ShownTo
from monitoring.error_reason import Reason, loads
from monitoring.gateway.producing import WriteOutcome
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.console.conftest import a_user
from tests.console.produce.conftest import local
from tests.support.fake_gateway import FakeCluster, stand_in

URL = "/c/local/topics/orders/copy"


@pytest.fixture
def remote(orders) -> Iterator[FakeCluster]:
    """Another cluster, with a topic `target` of one partition."""
    cluster = FakeCluster()
    cluster.create_topic("target", 1)
    Cluster.objects.create(slug="remote", name="Remote", bootstrap_servers="127.0.0.1:2")
    orders.produce("orders", 0, *(b"%d" % number for number in range(4)), key=b"k")
    with pytest.MonkeyPatch.context() as monkeypatch:  # undone before that of `orders`
        stand_in(monkeypatch, orders, remote=cluster)
        yield cluster


def planned(user, **changes) -> Plan:
    to_cluster = Cluster.objects.get(slug="remote")
    chosen = {"topic": "orders", "to": "target", "to_cluster": to_cluster} | changes
    return propose_copy(Principal(user, ""), local(), RangesToCopy(**chosen))


def copied(cluster: FakeCluster) -> list[bytes | None]:
    return [row.value for row in cluster.topics["target"].records[0]]


def test_the_plan_belongs_to_the_cluster_that_gets_the_records(remote, client_of, operator):
    browser = client_of(operator)
    page = browser.get(URL).content.decode()
    assert '<option value="remote">Remote</option>' in page
    posted = {"to_cluster": "remote", "to": "target", "how": "all", "most": "100",
              "keeps_partitions": "on"}  # fmt: skip
    answer = browser.post(URL, posted)
    assert answer.status_code == 302, answer.content.decode()
    assert answer.url.startswith("/c/remote/plans/")
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.state == models.DONE
    assert copied(remote) == [b"0", b"1", b"2", b"3"]
    page = browser.get(answer.url).content.decode()
    assert "Copy records of “orders” on local to “target”" in page
    assert "/c/remote/topics/target/messages?partition=0&amp;offset=0" in page
    entry = AuditEntry.objects.get()
    assert (entry.cluster, entry.resource) == ("remote", "target")
    assert (entry.after["from_cluster"], entry.after["from"]) == ("local", "orders")


def test_it_is_planned_again_in_the_form_of_the_source_with_what_was_typed(
    remote, client_of, operator
):
    browser = client_of(operator)
    answer = browser.post(URL, {"to_cluster": "remote", "to": "target", "how": "all", "most": "77"})
    plan = Plan.objects.get()
    link = f"{URL}?again={plan.pk}"
    Plan.objects.update(state=models.REFUSED)
    assert f'href="{link}">Plan again' in browser.get(answer.url).content.decode()
    page = browser.get(link).content.decode()
    assert 'value="77"' in page
    assert '<option value="remote" selected>' in page
    assert Plan.objects.count() == 1


def test_it_is_resumed_and_planned_again_from_the_source(remote, client_of, operator):
    remote.refused_values[b"2"] = WriteOutcome(0, None, Reason("cluster_says", text="too large"))
    failed = confirm_and_run(planned(operator), operator)
    assert failed.state == models.FAILED
    page = client_of(operator).get(f"/c/remote/plans/{failed.pk}").content.decode()
    assert f'href="{URL}"' in page
    remote.refused_values.clear()
    assert resume_and_run(failed, operator).state == models.DONE
    assert copied(remote) == [b"0", b"1", b"2", b"3"]


def test_both_clusters_need_their_rights(remote, operator, viewer):
    grant(viewer, "operator", "local")
    assert clusters_to_copy_to(Principal(viewer, ""), local()) == []
    with pytest.raises(PlanRefused, match="does not include"):
        planned(viewer)
    scoped = a_user("scoped", "operator", "local")
    grant(scoped, "operator", "remote", topics=["other"])
    with pytest.raises(PlanRefused, match="does not include"):
        planned(scoped)
    writer = a_user("writer", "operator", "remote")
    with pytest.raises(PlanRefused, match="may not read"):
        planned(writer)
    Cluster.objects.filter(slug="remote").update(read_only=True)
    offered = clusters_to_copy_to(Principal(operator, ""), local())
    assert "remote" not in [cluster.slug for cluster in offered]
    with pytest.raises(PlanRefused, match="read-only"):
        planned(operator)


def test_losing_the_right_to_read_the_source_refuses_the_plan(remote):
    user = a_user("both", "operator", "local")
    grant(user, "operator", "remote")
    plan = planned(user)
    user.role_grants.filter(cluster="local").delete()
    refused = confirm_and_run(plan, type(user).objects.get(pk=user.pk))
    assert refused.state == models.REFUSED
    assert copied(remote) == []


def test_masks_of_the_source_hold_and_those_of_the_target_cluster_are_compared(
    remote, operator, admin
):
    rule = {"topic_pattern": "orders", "target": "value.card"}
    MaskingRule.objects.create(cluster=local(), **rule)
    with pytest.raises(PlanRefused, match="may not read all parts"):
        planned(operator)
    MaskingRule.objects.create(cluster=local(), topic_pattern="target", target="value.card")
    assert planned(admin).draft["after"]["uncovered"] == "value.card", "of the other cluster"
    other = Cluster.objects.get(slug="remote")
    MaskingRule.objects.create(cluster=other, topic_pattern="target", target="value.card")
    assert "uncovered" not in planned(admin).draft["after"]
    MaskingRule.objects.filter(cluster=other).update(shown_to=ShownTo.OPERATORS)
    assert planned(admin).draft["after"]["uncovered"] == "value.card", "more users see the copy"


def test_a_source_that_is_another_cluster_now_is_not_copied(remote, orders, operator):
    plan = planned(operator)
    orders.id = "fake-other"
    refused = confirm_and_run(plan, operator)
    assert refused.state == models.REFUSED
    assert "source lead to another cluster now" in loads(refused.outcome)


def test_a_read_only_cluster_is_copied_to_another_one_only(remote, client_of, operator):
    Cluster.objects.filter(slug="local").update(read_only=True)
    browser = client_of(operator)
    page = browser.get(URL).content.decode()
    assert "this one" not in page
    posted = {"to_cluster": "", "to": "target", "how": "all", "most": "9"}
    assert browser.post(URL, posted).status_code == 422
    assert browser.post(URL, posted | {"to_cluster": "remote"}).status_code == 302


def test_a_second_entry_of_the_same_cluster_is_no_way_to_copy_a_topic_onto_itself(
    remote, orders, operator, monkeypatch
):
    monkeypatch.setattr(remote, "id", orders.id)
    with pytest.raises(PlanRefused, match="Choose another topic"):
        planned(operator, to="orders")

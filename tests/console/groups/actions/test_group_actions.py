"""Reset, delete and undo on a cluster in memory, through the pages."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from console.actions import models, plan_worker
from console.actions.models import Plan
from tests.console.actions.test_services import _queued  # noqa: F401  (a fixture)
from tests.console.conftest import a_user
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

pytestmark = pytest.mark.usefixtures("_queued")
ORDERS = [("orders", 0), ("orders", 1)]


@pytest.fixture
def cluster(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    """Group `billing` of the sample, with a commit on one of its partitions."""
    fake_cluster.create_topic("orders", 2)
    for number in range(2):
        fake_cluster.produce("orders", number, *(b"%d" % value for value in range(100)))
    fake_cluster.commits["billing"] = {("orders", 0): 60}
    fake_cluster.commits["other"] = {("orders", 0): 15, ("orders", 1): 25}
    return fake_cluster


@pytest.fixture
def client(operator, client_of) -> Any:
    return client_of(operator)


def send(client: Any, page: str = "group-reset", **fields: Any) -> Any:
    return client.post(reverse(page, args=["local", "billing"]), fields)


def applied(client: Any, answer: Any, typed: str = "") -> Plan:
    """Review and apply the plan that the form's answer leads to."""
    plan = Plan.objects.latest("created_at")
    assert answer.url == reverse("plan", args=["local", plan.pk]), answer.content.decode()
    assert client.get(answer.url).status_code == 200
    client.post(reverse("plan-confirm", args=["local", plan.pk]), {"typed": typed})
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"how": "earliest"}, (0, 0)),
        ({"how": "latest"}, (100, 100)),
        ({"how": "latest", "topic": "orders", "partitions": "1"}, (60, 100)),
        ({"how": "offset", "offset": "42", "topic": "orders"}, (42, 42)),
        ({"how": "time", "at": "2023-11-14T22:13:20"}, (0, 0)),
        ({"how": "duration", "ago": "1 h"}, (100, 100)),
        ({"how": "shift", "shift": "-7"}, (53, None)),
        ({"how": "group", "from_group": "other"}, (15, 25)),
    ],
)
def test_offsets_are_reset_and_undone(cluster, client, fields, expected):
    plan = applied(client, send(client, **fields))
    assert (plan.state, plan.outcome) == (models.DONE, "")
    found = cluster.commits["billing"]
    assert tuple(found.get(key) for key in ORDERS) == expected
    undo = applied(client, client.post(reverse("plan-undo", args=["local", plan.pk])))
    assert undo.state == models.DONE
    assert cluster.commits["billing"] == {("orders", 0): 60}, "the other commit is deleted again"


def test_offsets_are_reset_from_a_file(cluster, client):
    file = SimpleUploadedFile("offsets.csv", b"orders,0,10\norders,1,20\n")
    applied(client, send(client, how="file", file=file))
    assert cluster.commits["billing"] == {("orders", 0): 10, ("orders", 1): 20}


def test_the_review_says_what_is_read_again_and_skipped(cluster, client):
    cluster.commits["billing"][("orders", 1)] = 10
    answer = send(client, how="offset", offset="40", topic="orders")
    page = client.get(answer.url).content.decode()
    assert "reads 20 again" in page
    assert "skips 30" in page
    assert "The group will not read 30 records." in page
    assert "Lag after" in page


def test_the_review_says_that_a_partition_was_never_committed(cluster, client):
    page = client.get(send(client, how="earliest").url).content.decode()
    assert "not committed" in page
    assert "1 of these partitions was never committed" in page


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"how": "offset", "offset": "101", "topic": "orders"}, "which has 0–100"),
        ({"how": "offset"}, "required"),
        ({"how": "offset", "offset": "-1"}, "greater than or equal to 0"),
        ({"how": "time", "at": "yesterday"}, "valid date"),
        ({"how": "duration", "ago": "long"}, "a number and a unit"),
        ({"how": "earliest", "topic": "orders", "partitions": "9"}, "no partition orders-9"),
        ({"how": "earliest", "topic": "console.audit"}, "valid choice"),
        ({"how": "earliest", "partitions": "0"}, "Choose the topic"),
        ({"how": "earliest", "topic": "orders", "partitions": "x"}, "not a partition"),
        ({"how": "group", "from_group": "billing"}, "the same group"),
        ({"how": "group", "from_group": "nobody"}, "has committed no offsets"),
        ({"how": "offset", "offset": "60", "topic": "orders", "partitions": "0"}, "is already"),
        ({"how": "shift", "shift": "5", "topic": "orders", "partitions": "1"}, "None of these"),
        ({"how": "everything"}, "valid choice"),
        ({"how": "file"}, "required"),
        ({}, "required"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_on_the_form(cluster, client, fields, why):
    answer = send(client, **fields)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not Plan.objects.exists()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"orders,0,500", "which has 0–100"),
        (b"orders,7,1", "There is no partition orders-7"),
        (b"console.audit,0,1", "There is no partition console.audit-0"),
        (b"\xff\xfe", "not text"),
        (b"orders;0;1", "Line 1"),
    ],
)
def test_a_file_that_cannot_be_applied_is_refused(cluster, client, content, why):
    cluster.create_topic("console.audit")
    answer = send(client, how="file", file=SimpleUploadedFile("offsets.csv", content))
    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_members_are_said_before_and_a_plan_can_be_resumed_when_they_are_gone(cluster, client):
    cluster.members["billing"] = 3
    form = client.get(reverse("group-reset", args=["local", "billing"])).content.decode()
    assert "The group has 1 member now." in form, "the sample has one"
    answer = send(client, how="earliest")
    assert "The group has 3 members now." in client.get(answer.url).content.decode()
    plan = applied(client, answer)
    assert (plan.state, plan.applied_items) == (models.FAILED, frozenset())
    assert "Stop its consumers first" in client.get(answer.url).content.decode()
    cluster.members["billing"] = 0
    client.post(reverse("plan-resume", args=["local", plan.pk]))
    plan_worker.apply_queued(str(plan.pk))
    assert cluster.commits["billing"] == {("orders", 0): 0, ("orders", 1): 0}


def test_a_commit_since_the_review_refuses_the_plan(cluster, client):
    answer = send(client, how="earliest")
    cluster.commits["billing"][("orders", 0)] = 70
    plan = applied(client, answer)
    assert plan.state == models.REFUSED
    assert "Partition orders-0 is committed at 70 now." in plan.outcome


def test_what_a_live_group_committed_until_it_stopped_refuses_no_reset_and_is_restored(
    cluster, client
):
    cluster.members["billing"] = 3
    answer = send(client, how="earliest")
    cluster.members["billing"] = 0
    cluster.commits["billing"][("orders", 0)] = 70
    plan = applied(client, answer)
    assert (plan.state, plan.draft["before"]["orders-0"]) == (models.DONE, 70)
    undo = client.post(reverse("plan-undo", args=["local", plan.pk]))
    applied(client, undo)
    assert cluster.commits["billing"] == {("orders", 0): 70}


def test_a_resumed_reset_of_a_live_group_restores_also_what_its_first_run_replaced(cluster, client):
    cluster.members["billing"] = 3
    answer = send(client, how="earliest")
    plan = Plan.objects.latest("created_at")
    Plan.objects.filter(pk=plan.pk).update(item_outcomes={"orders-0": ""}, state=models.FAILED)
    cluster.members["billing"] = 0
    cluster.commits["billing"] = {("orders", 0): 0}
    client.post(reverse("plan-resume", args=["local", plan.pk]))
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    assert (plan.state, plan.facts["items"]["orders-0"]) == (models.DONE, 60), answer.url


def test_a_shift_of_a_live_group_is_counted_from_the_commits_of_the_review(cluster, client):
    cluster.members["billing"] = 3
    answer = send(client, how="shift", shift="-7")
    assert "plan the shift again" in client.get(answer.url).content.decode()
    cluster.members["billing"] = 0
    cluster.commits["billing"][("orders", 0)] = 70
    assert applied(client, answer).state == models.REFUSED


def test_the_offsets_of_a_topic_are_deleted_and_committed_again(cluster, client):
    plan = applied(client, send(client, "group-offsets-delete", topic="orders"))
    assert cluster.commits["billing"] == {}
    applied(client, client.post(reverse("plan-undo", args=["local", plan.pk])))
    assert cluster.commits["billing"] == {("orders", 0): 60}


def test_offsets_that_are_not_there_are_not_deleted(cluster, client):
    cluster.commits["billing"].clear()
    answer = send(client, "group-offsets-delete", topic="orders")
    assert answer.status_code == 422
    assert "no committed offsets" in answer.content.decode()


def test_a_group_is_deleted_and_its_offsets_are_committed_again(cluster, admin, client_of):
    client = client_of(admin)
    plan = applied(client, send(client, "group-delete"), "billing")
    assert (plan.state, "billing" in cluster.commits) == (models.DONE, False)
    applied(client, client.post(reverse("plan-undo", args=["local", plan.pk])))
    assert cluster.commits["billing"] == {("orders", 0): 60}


def test_a_group_with_members_is_not_deleted(cluster, admin, client_of):
    cluster.members["billing"] = 1
    client = client_of(admin)
    plan = applied(client, send(client, "group-delete"), "billing")
    assert plan.state == models.FAILED
    assert "billing" in cluster.commits


def test_a_group_that_reads_topics_outside_of_the_scope_is_not_deleted(cluster, client_of):
    cluster.commits["billing"]["secret", 0] = 1
    client = client_of(a_user("scoped", "admin", "local", topics=["orders"], groups=["billing"]))
    answer = send(client, "group-delete")
    assert answer.status_code == 422
    assert "outside of your scope" in answer.content.decode()


def test_a_reset_leaves_topics_outside_of_the_scope_alone(cluster, client_of):
    cluster.create_topic("secret")
    cluster.commits["billing"]["secret", 0] = 0
    scoped = a_user("scoped", "operator", "local", topics=["orders"], groups=["billing"])
    client = client_of(scoped)
    applied(client, send(client, how="latest"))
    assert cluster.commits["billing"] == {("orders", 0): 100, ("orders", 1): 100, ("secret", 0): 0}
    answer = send(client, how="group", from_group="other")
    assert "There is no group “other”" in answer.content.decode()


@pytest.mark.parametrize("page", ["group-reset", "group-offsets-delete", "group-delete"])
def test_posts_without_the_right_change_nothing(cluster, page, viewer, outsider, client_of):
    for user, status in ((viewer, 403), (outsider, 404)):
        answer = send(client_of(user), page, how="earliest", topic="orders")
        assert answer.status_code == status
    assert not Plan.objects.exists()


def test_an_operator_deletes_no_group_and_an_unreadable_cluster_is_said(cluster, client):
    assert send(client, "group-delete").status_code == 403
    cluster.down.update(cluster.broker_ids)
    answer = send(client, how="earliest")
    assert answer.status_code == 503
    assert "could not be read" in answer.content.decode()

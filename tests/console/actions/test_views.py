import uuid
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from console.actions import models, plan_queue, plan_worker, registry
from console.actions.draft import Draft
from console.actions.models import Plan
from console.audit.models import AuditEntry
from monitoring.error_reason import Reason, dumps
from tests.console.actions.test_services import (
    creation,
    make,
    new_topic_name,
    partitions_of,
    propose,
)
from tests.console.conftest import a_user, sample


@pytest.fixture
def _worker(monkeypatch):
    """Confirmed plans are carried out at once, where a worker would be."""
    monkeypatch.setattr(plan_queue, "send", lambda plan: plan_worker.apply_queued(str(plan.pk)))


@pytest.mark.usefixtures("_worker")
def test_a_topic_is_created_from_form_to_result(
    cluster, client_of, operator, django_capture_on_commit_callbacks
):
    name, client = new_topic_name(), client_of(operator)
    form = {"name": name, "partitions": 2, "replication": 1, "settings": "segment.bytes=1048576"}
    review = client.post(reverse("topic-create", args=["local"]), form, follow=True)
    plan = Plan.objects.get()
    assert review.redirect_chain == [(reverse("plan", args=["local", plan.pk]), 302)]
    page = review.content.decode()
    assert "segment.bytes" in page
    assert "Delete the topic." in page, "the review says how to take it back"
    assert ">Create topic</button>" in page
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("plan-confirm", args=["local", plan.pk]), REMOTE_ADDR="10.7.7.7")
    assert AuditEntry.objects.get(resource=name).remote_addr == "10.7.7.7"
    assert b"alert-success" in client.get(reverse("plan", args=["local", plan.pk])).content
    assert partitions_of(cluster, name) == 2


@pytest.mark.usefixtures("_worker")
def test_the_deletion_review_lists_groups_and_asks_for_the_topic_name(
    cluster, client_of, admin, django_capture_on_commit_callbacks
):
    name, client = new_topic_name(), client_of(admin)
    make(cluster, name, 1)
    rows = [{"topic": name, "partition": 0, "leader": 1, "replicas": [1], "isr": [1],
             "log_start_offset": 0, "log_end_offset": 77, "size_bytes": 2048}]  # fmt: skip
    reader = {"group": "billing", "state": "Stable", "members": 1, "topic": name, "partition": 0,
              "committed_offset": 7, "log_end_offset": 77, "member_id": "m"}  # fmt: skip
    sample("local", partitions=rows, groups=[reader])
    page = client.post(reverse("topic-delete", args=["local", name]), follow=True).content.decode()
    assert "billing" in page
    assert "2 KiB" in page.replace("\u202f", " ")
    assert "77" in page
    apply = reverse("plan-confirm", args=["local", Plan.objects.get().pk])
    wrong = client.post(apply, {"typed": "something"})
    assert wrong.status_code == 422
    assert partitions_of(cluster, name) == 1
    with django_capture_on_commit_callbacks(execute=True):
        client.post(apply, {"typed": name})
    assert partitions_of(cluster, name) is None


def test_a_second_confirmation_shows_the_result_of_the_first(cluster, client_of, operator):
    name, client = new_topic_name(), client_of(operator)
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    apply = reverse("plan-confirm", args=["local", plan.pk])
    assert client.post(apply).status_code == 302
    second = client.post(apply, follow=True)
    assert second.redirect_chain == [(reverse("plan", args=["local", plan.pk]), 302)]
    assert "already confirmed" in second.content.decode()


def test_a_plan_that_is_too_old_offers_no_button_and_says_what_to_do(cluster, client_of, operator):
    name, client = new_topic_name(), client_of(operator)
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    Plan.objects.update(created_at=plan.created_at - timedelta(minutes=16))
    page = client.get(reverse("plan", args=["local", plan.pk])).content.decode()
    assert "has expired" in page
    assert reverse("plan-confirm", args=["local", plan.pk]) not in page
    assert f'href="{reverse("topic-create", args=["local"])}">Plan again' in page
    late = client.post(reverse("plan-confirm", args=["local", plan.pk]))
    assert late.status_code == 422
    assert late.content.decode().count("older than 15 minutes") == 1


@pytest.mark.parametrize("action", registry.actions())
def test_every_kind_of_change_can_be_planned_again_from_where_it_was_not_done(
    clusters, redis_server, client_of, admin, action
):
    draft = Draft("x", []).as_json()
    resource = "1" if action.startswith("broker.") else "orders"
    plan = Plan.objects.create(
        cluster="local", action=action, resource=resource, params={}, facts={},
        draft=draft, state=models.REFUSED, outcome="Things changed.", created_by=admin,
        created_at=timezone.now(),
    )  # fmt: skip
    page = client_of(admin).get(reverse("plan", args=["local", plan.pk])).content.decode()
    assert "Plan again" in page
    assert "Not done" in page


def test_applying_another_users_plan_is_404_and_audited(cluster, client_of, operator, admin):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    apply = reverse("plan-confirm", args=["local", plan.pk])
    never = reverse("plan-confirm", args=["local", uuid.uuid4()])
    for url in (apply, never):
        answer = client_of(admin).post(url)
        assert answer.status_code == 404
        assert "no such plan" in answer.content.decode()
    entry = AuditEntry.objects.get()
    assert (entry.actor_name, entry.outcome, entry.resource) == ("admin", "refused", name)
    plan.refresh_from_db()
    assert plan.state == models.PROPOSED


def test_a_get_never_applies(cluster, client_of, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    assert (
        client_of(operator).get(reverse("plan-confirm", args=["local", plan.pk])).status_code == 405
    )
    plan.refresh_from_db()
    assert plan.state == models.PROPOSED


def test_a_plan_of_another_user_is_read_by_those_who_see_what_it_names_and_applied_by_nobody_else(
    cluster, client_of, operator, viewer, outsider, admin
):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    url = reverse("plan", args=["local", plan.pk])
    second = a_user("second", "operator")
    for reader in (admin, second):
        page = client_of(reader).get(url).content.decode()
        assert "A plan of operator" in page
        assert reverse("plan-confirm", args=["local", plan.pk]) not in page
        for page in ("plan-confirm", "plan-undo", "plan-stop", "plan-resume"):
            assert client_of(reader).post(reverse(page, args=["local", plan.pk])).status_code == 404
    narrow = a_user("narrow", "admin", topics=["none*"])
    narrow_groups = a_user("narrow-groups", "operator", groups=["none*"])
    for stranger in (narrow, narrow_groups, outsider):
        assert client_of(stranger).get(url).status_code == 404
    assert client_of(viewer).get(url).status_code == 403


@pytest.mark.usefixtures("_worker")
def test_the_page_of_a_plan_says_who_made_it_also_without_the_account(
    cluster, client_of, operator, admin, django_capture_on_commit_callbacks
):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    url = reverse("plan", args=["local", plan.pk])
    with django_capture_on_commit_callbacks(execute=True):
        client_of(operator).post(reverse("plan-confirm", args=["local", plan.pk]))
    second = a_user("second", "operator")
    assert "Planned and confirmed by operator" in client_of(second).get(url).content.decode()
    operator.delete()
    assert "Planned and confirmed by operator" in client_of(second).get(url).content.decode()


def test_only_its_author_and_admins_see_the_address_of_the_user_who_stopped_a_plan(
    cluster, client_of, operator, admin
):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    stopped = Reason("plan_stopped", who="operator", address="10.0.0.9", how="Nothing was written.")
    Plan.objects.update(state=models.FAILED, stopped_by="operator", outcome=dumps(stopped))
    url = reverse("plan", args=["local", plan.pk])
    for reader in (operator, admin):
        page = client_of(reader).get(url).content.decode()
        assert "Stopped by operator from 10.0.0.9. Nothing was written." in page
    page = client_of(a_user("second", "operator")).get(url).content.decode()
    assert "Stopped by operator. Nothing was written." in page
    assert "10.0.0.9" not in page


def test_a_plan_of_another_cluster_is_404(cluster, client_of, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    plan.cluster = "staging"
    plan.save()
    assert client_of(operator).get(reverse("plan", args=["local", plan.pk])).status_code == 404


def test_applying_needs_the_csrf_token(cluster, operator):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    response = client.post(reverse("plan-confirm", args=["local", plan.pk]))
    assert response.status_code == 403
    assert "has expired" in response.content.decode()


@pytest.mark.parametrize(
    "wrong",
    [{"name": ".."}, {"name": "a b"}, {"name": "x" * 250}, {"partitions": 0}, {"partitions": "x"},
     {"replication": -1}, {"settings": "no equals sign"}, {"settings": "UPPER=1"}, {"name": ""},
     {"settings": "segment.bytes=1\nsegment.bytes=2"},
     {"settings": "cleanup.policy=delete", "cleanup": "compact"},
     {"settings": "retention.ms=1", "retention_hours": 5}],
)  # fmt: skip
def test_a_wrong_form_says_what_is_wrong(cluster, client_of, operator, wrong):
    form = {"name": "good", "partitions": 1, "replication": 1} | wrong
    response = client_of(operator).post(reverse("topic-create", args=["local"]), form)
    assert response.status_code == 422
    assert b"invalid-feedback" in response.content
    assert Plan.objects.count() == 0


def test_settings_of_a_new_topic_may_have_units(cluster, client_of, operator):
    form = {
        "name": new_topic_name(), "partitions": 1, "replication": 1,
        "settings": "segment.bytes=64 MiB\nretention.ms=36h",
    }  # fmt: skip
    client, url = client_of(operator), reverse("topic-create", args=["local"])
    answer = client.post(url, form)
    plan = Plan.objects.get()
    assert plan.params["configs"] == {"segment.bytes": "67108864", "retention.ms": "129600000"}
    assert "36 h" in client.get(answer.url).content.decode(), "the review says what it means"
    wrong = client.post(url, form | {"settings": "retention.ms=36x"})
    assert wrong.status_code == 422
    assert "for example 7d, 36h or 90 min" in wrong.content.decode()


def test_a_cluster_that_is_down_is_reported_in_the_form(cluster, fake_cluster, client_of, operator):
    fake_cluster.down.update(fake_cluster.broker_ids)
    form = {"name": new_topic_name(), "partitions": 1, "replication": 1}
    response = client_of(operator).post(reverse("topic-create", args=["local"]), form)
    assert response.status_code == 503
    assert "could not be read" in response.content.decode()

"""The one road of every change, on a cluster in memory. Tasks are run in place of a worker."""

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connections

from console.accounts.principal import Principal
from console.actions import models, plan_queue, plan_worker, services, tasks
from console.actions.draft import PlanAlreadyConfirmed, PlanRefused
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.topics.actions.topic_facts import read_existing
from monitoring.error_reason import loads
from monitoring.gateway.errors import NotFound
from monitoring.gateway.gateway import for_cluster
from tests.console.actions.conftest import confirm_and_run
from tests.console.conftest import a_user, sample
from tests.support.waiting import wait_until


def new_topic_name() -> str:
    return f"t-{uuid.uuid4().hex[:10]}"


def make(cluster, name, partitions=2):
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(name, partitions, 1)


def partitions_of(cluster, name) -> int | None:
    with for_cluster(cluster) as gateway:
        try:
            return len(gateway.topics.describe_topic(name).partitions)
        except NotFound:
            return None


def propose(user, cluster, action, name, **params):
    return services.propose(
        Principal(user, "10.0.0.9"), cluster, action, name, {"name": name, **params}
    )


def creation(name, **changes):
    return {"partitions": 3, "replication": 1, "configs": {}} | changes


@pytest.fixture
def _queued(monkeypatch, django_capture_on_commit_callbacks):
    """What `confirm` would send to a worker."""
    monkeypatch.setattr(plan_queue, "send", lambda plan: None)


pytestmark = pytest.mark.usefixtures("_queued")


def test_the_user_who_confirmed_and_the_address_are_audited(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(operator, "10.7.7.7"), "")
    operator.delete()
    plan_worker.apply_queued(str(plan.pk))
    entry = AuditEntry.objects.get()
    assert (entry.actor_name, entry.remote_addr) == ("operator", "10.7.7.7")
    told = "Planned from 10.0.0.9, confirmed by operator from 10.7.7.7."
    assert loads(entry.detail).endswith(told)


def test_a_plan_confirmed_too_late_records_the_user(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    plan.created_at -= timedelta(minutes=16)
    plan.save()
    with pytest.raises(PlanRefused):
        services.confirm(plan, Principal(operator, "10.7.7.7"), "")
    assert AuditEntry.objects.get().remote_addr == "10.7.7.7"


def test_a_change_since_the_review_refuses_the_plan_and_is_described(cluster, operator):
    name = new_topic_name()
    make(cluster, name, 2)
    plan = propose(operator, cluster, "topic.add-partitions", name, total=5)
    with for_cluster(cluster) as gateway:
        gateway.topics.create_partitions(name, 3)
    confirm_and_run(plan, operator)
    assert plan.state == models.REFUSED
    assert "It has 3 partitions now, instead of 2." in plan.outcome
    assert partitions_of(cluster, name) == 3
    assert AuditEntry.objects.get().outcome == "refused"


@pytest.mark.parametrize("action", ["topic.delete", "topic.add-partitions"])
def test_a_topic_that_was_deleted_and_created_again_is_not_changed_by_an_old_plan(
    cluster, admin, action
):
    name = new_topic_name()
    make(cluster, name)
    plan = propose(admin, cluster, action, name, total=5)
    again = False
    while not again:  # until its partitions lie where those of the first did
        with for_cluster(cluster) as gateway:
            gateway.topics.delete_topic(name)
            wait_until(lambda: partitions_of(cluster, name) is None, "it is gone")
            gateway.topics.create_topic(name, 2, 1)
            wait_until(lambda: partitions_of(cluster, name) == 2, "it is there again")
            found = read_existing(gateway, {"name": name})
        again = found["replicas"] == plan.facts["replicas"]
    confirm_and_run(plan, admin, name)
    assert plan.state == models.REFUSED
    assert "created again. Plan the change again." in plan.outcome
    assert partitions_of(cluster, name) == 2


def test_a_plan_for_one_cluster_is_not_applied_to_another_at_the_same_addresses(
    cluster, operator, fake_cluster
):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    assert plan.facts["cluster_id"]
    fake_cluster.id = "another-cluster"
    confirm_and_run(plan, operator)
    assert plan.state == models.REFUSED
    assert "lead to another cluster. Plan the change again." in plan.outcome
    assert partitions_of(cluster, name) is None


def test_a_topic_that_was_deleted_meanwhile_fails_the_plan(cluster, admin):
    name = new_topic_name()
    make(cluster, name)
    plan = propose(admin, cluster, "topic.delete", name)
    with for_cluster(cluster) as gateway:
        gateway.topics.delete_topic(name)
    assert confirm_and_run(plan, admin, name).state == models.FAILED
    assert plan.outcome


def test_a_plan_is_applied_once_even_if_confirmed_twice(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    confirm_and_run(plan, operator)
    with pytest.raises(PlanRefused, match="already"):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    plan_worker.apply_queued(str(plan.pk))
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_get_the_same_plan_apply_it_once(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(operator, "10.0.0.9"), "")

    def work():
        try:
            plan_worker.apply_queued(str(plan.pk))
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    plan.refresh_from_db()
    assert plan.state == models.DONE
    assert AuditEntry.objects.count() == 1


def test_a_plan_that_is_too_old_is_ended_and_audited_once(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    plan.created_at -= timedelta(minutes=16)
    plan.save()
    with pytest.raises(PlanRefused, match="15 minutes"):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    with pytest.raises(PlanAlreadyConfirmed):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    assert plan.state == models.REFUSED
    assert AuditEntry.objects.get().outcome == "refused"


def test_a_topic_created_since_the_review_refuses_the_plan(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    make(cluster, name)
    confirm_and_run(plan, operator)
    assert plan.state == models.REFUSED
    assert "A topic with this name was created meanwhile." in plan.outcome
    assert "[" not in plan.outcome
    assert AuditEntry.objects.get().outcome == "refused"


def test_the_plan_is_queued_by_task_name(
    cluster, operator, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.undo()
    sent = []
    monkeypatch.setattr(plan_queue.current_app, "send_task", lambda *told, **_: sent.append(told))
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    with django_capture_on_commit_callbacks(execute=True):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    assert sent == [(tasks.apply_plan.name, (str(plan.pk),))]


def test_a_plan_belongs_to_the_user_who_made_it(cluster, operator, admin):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    with pytest.raises(PlanRefused, match="another user's plan"):
        services.confirm(plan, Principal(admin, "10.0.0.9"), "")


def test_losing_the_right_before_applying_refuses_the_plan(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    operator.role_grants.all().delete()
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    assert plan.state == models.REFUSED
    assert partitions_of(cluster, name) is None


@pytest.mark.parametrize(
    ("role", "action"),
    [("viewer", "topic.create"), ("operator", "topic.delete"), ("", "topic.create")],
)
def test_without_the_right_no_plan_is_made(cluster, role, action):
    with pytest.raises(PlanRefused, match="role"):
        propose(a_user("x", role), cluster, action, "orders", **creation("orders"))
    assert Plan.objects.count() == 0


def test_an_operator_cannot_change_the_consoles_own_topics(cluster, operator):
    with pytest.raises(PlanRefused, match="role"):
        propose(operator, cluster, "topic.create", "console.audit", **creation("console.audit"))
    propose(operator, cluster, "topic.create", "console.orders", **creation("console.orders"))


def test_a_read_only_cluster_refuses_plans_and_applying(cluster, operator):
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    cluster.read_only = True
    cluster.save()
    for attempt in (
        lambda: propose(operator, cluster, "topic.create", name, **creation(name)),
        lambda: services.confirm(plan, Principal(operator, "10.0.0.9"), ""),
    ):
        with pytest.raises(PlanRefused, match="read-only"):
            attempt()


def test_a_replication_factor_above_the_broker_count_is_refused(cluster, operator):
    name = new_topic_name()
    with pytest.raises(PlanRefused, match="2 are up"):
        propose(operator, cluster, "topic.create", name, **creation(name, replication=3))


def test_a_collision_does_not_reveal_a_hidden_topic(cluster, operator):
    refusals = set()
    for name in ("console_audit", "console.access", "console_access"):
        with pytest.raises(PlanRefused) as refused:
            propose(operator, cluster, "topic.create", name, **creation(name))
        refusals.add(str(refused.value))
    assert refusals == {"Your role does not include this change."}


def test_a_collision_with_a_topic_outside_the_scope_does_not_name_it(cluster):
    scoped = a_user("scoped", "operator", topics=["mine.*"])
    make(cluster, "mine_secret")
    with pytest.raises(PlanRefused, match="collides with another topic") as refused:
        propose(scoped, cluster, "topic.create", "mine.secret", **creation("mine.secret"))
    assert "mine_secret" not in str(refused.value)


def test_differences_do_not_name_topics_outside_the_scope(cluster):
    scoped = a_user("scoped", "operator", topics=["mine.*"])
    plan = propose(scoped, cluster, "topic.create", "mine.new", **creation("mine.new"))
    make(cluster, "mine_new")
    assert confirm_and_run(plan, scoped).state == models.REFUSED
    assert "another topic" in plan.outcome
    assert "mine_new" not in plan.outcome


def test_the_review_mentions_groups_outside_the_scope(cluster):
    scoped = a_user("scoped", "admin", groups=["mine"])
    make(cluster, "orders")
    sample()
    plan = propose(scoped, cluster, "topic.delete", "orders")
    assert plan.draft["affected"] == ["Groups outside your scope may also read it."]


def test_an_existing_or_colliding_topic_name_is_refused(cluster, operator):
    name = new_topic_name().replace("-", ".")
    make(cluster, name)
    with pytest.raises(PlanRefused, match="already"):
        propose(operator, cluster, "topic.create", name, **creation(name))
    alike = name.replace(".", "_")
    with pytest.raises(PlanRefused, match="collides"):
        propose(operator, cluster, "topic.create", alike, **creation(alike))


def test_if_the_queue_hangs_the_plan_fails_and_is_audited(
    cluster, operator, redis_server, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.undo()
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    with redis_server.hung(), django_capture_on_commit_callbacks(execute=True):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    plan.refresh_from_db()
    assert plan.state == models.FAILED
    assert "Nothing was changed" in plan.outcome
    entry = AuditEntry.objects.get(resource=name)
    assert entry.outcome == "failed"
    assert loads(entry.detail).startswith(loads(plan.outcome))


def test_if_the_queue_is_down_the_plan_fails_and_nothing_changes(
    cluster, operator, redis_server, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.undo()
    name = new_topic_name()
    plan = propose(operator, cluster, "topic.create", name, **creation(name))
    redis_server.kill()
    with django_capture_on_commit_callbacks(execute=True):
        services.confirm(plan, Principal(operator, "10.0.0.9"), "")
    plan.refresh_from_db()
    assert plan.state == models.FAILED
    assert "Redis" in plan.outcome
    assert partitions_of(cluster, name) is None

"""Loggers of brokers: read, changed through a plan, undone."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_worker, services
from console.actions.models import Plan
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

NAME = "kafka.server.KafkaServer"
LIST, FORM = reverse("broker-loggers", args=["local", 1]), "broker-logger"


@pytest.fixture
def fake(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    return fake_cluster


@pytest.fixture
def browser(fake, client_of, admin):
    return client_of(admin)


def form(name=NAME):
    return reverse(FORM, args=["local", 1, name])


def plan_of(answer) -> Plan:
    assert answer.status_code == 302, answer.content.decode()
    return Plan.objects.order_by("-created_at")[0]


def apply(plan: Plan) -> Plan:
    services.confirm(plan, Principal(plan.created_by), "")
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


def test_loggers_are_listed_and_admins_get_links(browser, fake, client_of, viewer):
    assert form() in browser.get(LIST).content.decode()
    shown = client_of(viewer).get(LIST).content.decode()
    assert NAME in shown
    assert form() not in shown


def test_a_level_is_changed_and_the_change_is_undone(browser, fake):
    plan = apply(plan_of(browser.post(form(), {"level": "DEBUG"})))
    assert plan.state == models.DONE, plan.outcome
    assert fake.log_levels[NAME] == "DEBUG"
    undo = apply(plan_of(browser.post(reverse("plan-undo", args=["local", plan.pk]))))
    assert undo.state == models.DONE, undo.outcome
    assert fake.log_levels[NAME] == "INFO"


def test_a_level_that_changed_since_the_review_refuses_the_plan(browser, fake):
    plan = plan_of(browser.post(form(), {"level": "DEBUG"}))
    fake.log_levels[NAME] = "ERROR"
    assert apply(plan).state == models.REFUSED


def test_the_same_level_an_unknown_one_and_an_unknown_logger_are_refused(browser):
    assert "has this level already" in browser.post(form(), {"level": "INFO"}).content.decode()
    assert "Select a valid choice" in browser.post(form(), {"level": "LOUD"}).content.decode()
    assert browser.get(form("no.such")).status_code == 404


def test_a_broker_without_loggers_says_so(browser, fake):
    fake.fails["describe_loggers"] = Refused("Unexpected resource type")
    answer = browser.get(LIST)
    assert answer.status_code == 422
    assert "Unexpected resource type" in answer.content.decode()


@pytest.mark.kafka
@pytest.mark.django_db
def test_a_level_is_set_on_a_real_kafka(shared_kafka):
    row = Cluster(slug="kafka", bootstrap_servers=shared_kafka.address)

    def levels():
        return {e.name: e.value for e in gateway.broker_configs.describe_loggers(shared_kafka.id)}

    with for_cluster(row) as gateway:
        name = next(name for name in levels() if name.startswith("kafka.") or name != "root")
        before = levels()[name]
        gateway.broker_configs.alter_loggers(shared_kafka.id, {name: "ERROR"})
        assert levels()[name] == "ERROR"
        gateway.broker_configs.alter_loggers(shared_kafka.id, {name: before})
        assert levels()[name] == before
        with pytest.raises(Refused):
            gateway.broker_configs.alter_loggers(shared_kafka.id, {"no.such": "INFO"})

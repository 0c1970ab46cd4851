"""Client quotas: listed, changed through a plan, undone."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_worker, services
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.quotas.entities import entity_of, quotas_for, title_of
from console.quotas.quota_rows import number_text
from monitoring.error_reason import Reason
from monitoring.gateway.errors import Refused, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

ANN = (("user", "ann"),)
LIST, FORM = (reverse(name, args=["local"]) for name in ("quotas", "quota-edit"))


@pytest.fixture
def fake(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    fake_cluster.quotas[ANN] = {"producer_byte_rate": 1048576.0}
    return fake_cluster


@pytest.fixture
def browser(fake, client_of, admin):
    return client_of(admin)


def plan_of(answer) -> Plan:
    assert answer.status_code == 302, answer.content.decode()
    return Plan.objects.order_by("-created_at")[0]


def apply(plan: Plan) -> Plan:
    services.confirm(plan, Principal(plan.created_by), "")
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


def test_an_entity_has_a_text_and_the_quotas_of_its_kind():
    pair = entity_of({"user": "ann", "client-id": "<default>", "ip": ""})
    assert pair == (("client-id", None), ("user", "ann"))
    assert title_of(pair) == "client-id <default>, user ann"
    assert "producer_byte_rate" in quotas_for(pair)
    assert quotas_for((("ip", None),)) == ("connection_creation_rate",)
    assert [number_text(1048576.0), number_text(0.5)] == ["1048576", "0.5"]


def test_quotas_are_listed_for_admins_only(browser, client_of, operator):
    shown = browser.get(LIST).content.decode()
    assert "user ann" in shown
    assert "producer_byte_rate 1048576" in shown
    assert client_of(operator).get(LIST).status_code == 403


def test_the_form_has_the_values_of_the_entity(browser):
    assert "1048576" in browser.get(FORM, {"user": "ann"}).content.decode()


def test_quotas_are_set_removed_audited_and_undone(browser, fake):
    form = {"user": "ann", "consumer_byte_rate": "2000"}
    plan = apply(plan_of(browser.post(FORM, form)))
    assert plan.state == models.DONE, plan.outcome
    assert fake.quotas == {ANN: {"consumer_byte_rate": 2000.0}}
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource) == ("quota.change", "user ann")
    undo = apply(plan_of(browser.post(reverse("plan-undo", args=["local", plan.pk]))))
    assert undo.state == models.DONE, undo.outcome
    assert fake.quotas == {ANN: {"producer_byte_rate": 1048576.0}}


def test_quotas_that_changed_since_the_review_refuse_the_plan(browser, fake):
    plan = plan_of(browser.post(FORM, {"user": "ann"}))
    fake.quotas[ANN] = {"producer_byte_rate": 5.0}
    assert apply(plan).state == models.REFUSED


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({}, "Enter a user, a client id or an address"),
        ({"user": "ann", "ip": "10.0.0.1"}, "without user and client id"),
        ({"user": "ann", "connection_creation_rate": "1"}, "does not have this quota"),
        ({"user": "ann", "producer_byte_rate": "nan"}, "Enter a number"),
        ({"user": "ann", "producer_byte_rate": "-1"}, "greater than or equal"),
        ({"user": "ann", "producer_byte_rate": "1048576"}, "have these values already"),
    ],
)
def test_an_invalid_form_says_what_is_wrong(browser, form, error):
    answer = browser.post(FORM, form)
    assert answer.status_code == 422
    assert error in answer.content.decode()


def test_a_cluster_without_quotas_says_so(browser, fake):
    reason = Reason("api_not_offered", api="DescribeClientQuotas")
    fake.fails["describe_quotas"] = Unsupported(reason)
    for url in (LIST, FORM):
        answer = browser.get(url)
        assert answer.status_code == 422
        assert "do not offer DescribeClientQuotas" in answer.content.decode()


@pytest.mark.kafka
@pytest.mark.django_db
def test_quotas_on_a_real_kafka(shared_kafka):
    row = Cluster(slug="kafka", bootstrap_servers=shared_kafka.address)
    pair = (("client-id", None), ("user", "ann"))
    with for_cluster(row) as gateway:
        gateway.quotas.alter(pair, {"producer_byte_rate": 1000.0, "request_percentage": 12.5})
        told = {quota.entity: quota.values for quota in gateway.quotas.describe()}
        assert told[pair] == {"producer_byte_rate": 1000.0, "request_percentage": 12.5}
        gateway.quotas.alter(pair, dict.fromkeys(told[pair]))
        assert pair not in {quota.entity for quota in gateway.quotas.describe()}
        with pytest.raises(Refused):
            gateway.quotas.alter(pair, {"no_such_quota": 1.0}, validate_only=True)

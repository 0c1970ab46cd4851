"""Settings of brokers: read, changed through a plan, undone."""

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_worker, services
from console.actions.models import Plan
from console.audit.models import AuditEntry
from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

NAME = "message.max.bytes"


@pytest.fixture
def fake(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    return fake_cluster


@pytest.fixture
def browser(fake, client_of, admin):
    return client_of(admin)


def page(browser, name=NAME):
    return reverse("broker-setting", args=["local", 1, name])


def plan_of(browser, **form) -> Plan:
    answer = browser.post(page(browser), {"applies_to": "this"} | form)
    assert answer.status_code == 302, answer.content.decode()
    return Plan.objects.order_by("-created_at")[0]


def apply(browser, plan: Plan) -> Plan:
    services.confirm(plan, Principal(plan.created_by), "")
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


def test_the_settings_have_value_default_source_and_a_link_where_they_can_change(browser):
    shown = browser.get(reverse("broker-config", args=["local", 1])).content.decode()
    assert "1048588" in shown
    assert page(browser) in shown
    assert "broker.id" in shown
    assert page(browser, "broker.id") not in shown


def test_a_viewer_reads_settings_without_links(fake, client_of, viewer):
    shown = client_of(viewer).get(reverse("broker-config", args=["local", 1])).content.decode()
    assert NAME in shown
    assert page(None) not in shown


def test_a_size_may_have_a_unit_and_the_plan_gets_bytes(browser):
    plan = plan_of(browser, value="2 MiB")
    assert plan.params["configs"] == {NAME: "2097152"}
    assert plan.draft["changes"][0]["note"].replace("\u202f", " ") == "2 MiB"
    wrong = browser.post(page(browser), {"applies_to": "this", "value": "2 mibs"})
    assert wrong.status_code == 422
    assert "for example 1 GiB or 500MB" in wrong.content.decode()


@pytest.mark.parametrize(("applies_to", "broker"), [("this", 1), ("all", None)])
def test_a_setting_is_changed_and_the_change_is_undone(browser, fake, applies_to, broker):
    plan = apply(browser, plan_of(browser, value="2000000", applies_to=applies_to))
    assert plan.state == models.DONE, plan.outcome
    assert fake.broker_configs[broker] == {NAME: "2000000"}
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource) == ("broker.configure", "1")
    assert (entry.before, entry.after) == ({NAME: None}, {NAME: "2000000"})
    browser.post(reverse("plan-undo", args=["local", plan.pk]))
    undo = apply(browser, Plan.objects.order_by("-created_at")[0])
    assert undo.state == models.DONE, undo.outcome
    assert fake.broker_configs[broker] == {}


def test_a_setting_is_removed(browser, fake):
    fake.broker_configs[1] = {NAME: "2000000"}
    apply(browser, plan_of(browser, is_removed="on"))
    assert fake.broker_configs[1] == {}


def test_a_change_since_the_review_refuses_the_plan(browser, fake):
    plan = plan_of(browser, value="2000000")
    fake.broker_configs[1] = {NAME: "5"}
    assert apply(browser, plan).state == models.REFUSED
    assert fake.broker_configs[1] == {NAME: "5"}


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"applies_to": "this"}, "Enter a value"),
        ({"applies_to": "every", "value": "1"}, "Select a valid choice"),
        ({"applies_to": "this", "is_removed": "on"}, "has this value already"),
    ],
)
def test_an_invalid_form_says_what_is_wrong(browser, form, error):
    answer = browser.post(page(browser), form)
    assert answer.status_code == 422
    assert error in answer.content.decode()


def test_a_setting_that_cannot_change_while_the_broker_runs_is_refused(browser):
    for answer in (
        browser.get(page(browser, "broker.id")),
        browser.post(page(browser, "broker.id")),
    ):
        assert answer.status_code == 422
        assert "cannot be changed here while the broker runs" in answer.content.decode()


def test_unknown_brokers_and_settings_are_404(browser):
    assert browser.get(page(browser, "no.such.setting")).status_code == 404
    for name in ("broker", "broker-config"):
        assert browser.get(reverse(name, args=["local", 99])).status_code == 404


def test_a_broker_that_is_down_is_503(browser, fake):
    fake.down |= {1, 2}
    for url in (page(browser), reverse("broker-config", args=["local", 1])):
        assert browser.get(url).status_code == 503


def test_a_read_only_cluster_refuses_the_form(browser, fake):
    Cluster.objects.update(read_only=True)
    assert browser.post(page(browser), {"value": "1", "applies_to": "this"}).status_code == 422
    assert (
        page(browser)
        not in browser.get(reverse("broker-config", args=["local", 1])).content.decode()
    )


def test_the_page_of_a_broker_has_its_facts_and_charts(browser):
    shown = browser.get(reverse("broker", args=["local", 1])).content.decode()
    assert "127.0.0.1:9092" in shown
    assert "of=broker" in shown

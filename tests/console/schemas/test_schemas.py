"""The pages of subjects, and changes to them: planned, applied, undone, and limited by a scope."""

import csv
import io

import pytest
from django.urls import reverse

from console.accounts.principal import Principal
from console.actions import models, plan_worker, services
from console.actions.models import Plan
from console.audit.models import AuditEntry
from tests.console.conftest import a_user
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)
from tests.support.schema_registry import Registry, schema_registry

VALUE = "orders-value"
LIST = reverse("schemas", args=["local"])
FIRST = '{"type":"record","name":"Order","fields":[]}'
SECOND = '{"type":"record","name":"Order","fields":[{"name":"amount","type":"long"}]}'


def url(name: str, subject: str = VALUE) -> str:
    return reverse(name, args=["local", subject])


@pytest.fixture
def registry(sampled, settings, fake_cluster: FakeCluster):  # noqa: F811
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    with schema_registry() as running:
        running.add(VALUE, FIRST)
        running.add(VALUE, SECOND)
        running.add("salaries-value", FIRST, references=[("Order", VALUE, 1)])
        running.add("shop.Order", 'syntax = "proto3";', "PROTOBUF")
        cluster = sampled[0]
        cluster.registry_url = running.url
        cluster.save()
        yield running


@pytest.fixture
def browser(registry, client_of, admin):
    return client_of(admin)


def text_of(answer) -> str:
    return answer.content.decode()


def plan_of(answer) -> Plan:
    assert answer.status_code == 302, text_of(answer)
    return Plan.objects.order_by("-created_at")[0]


def apply(plan: Plan, typed: str = "") -> Plan:
    services.confirm(plan, Principal(plan.created_by), typed)
    plan_worker.apply_queued(str(plan.pk))
    plan.refresh_from_db()
    return plan


def undo(browser, plan: Plan, typed: str = "") -> Plan:
    return apply(plan_of(browser.post(reverse("plan-undo", args=["local", plan.pk]))), typed)


def schemas_of(registry: Registry, subject: str = VALUE) -> dict[int, str]:
    return {number: each["schema"] for number, (_id, each) in registry.versions(subject).items()}


def test_subjects_are_listed_searched_and_exported(browser, registry):
    registry.compatibility["shop.Order"] = "FULL"
    page = text_of(browser.get(LIST))
    assert all(name in page for name in (VALUE, "salaries-value", "shop.Order", "BACKWARD"))
    assert "salaries" not in text_of(browser.get(LIST, {"q": "shop"}))
    answer = browser.get(LIST, {"format": "csv", "sort": "-version"})
    rows = list(csv.DictReader(io.StringIO(text_of(answer))))
    assert [rows[0][key] for key in ("subject", "version", "id")] == [VALUE, "2", "2"]
    assert {row["subject"]: row["compatibility"] for row in rows}["shop.Order"] == "FULL"


def test_the_menu_has_schemas_of_a_cluster_with_a_registry_only(browser):
    assert LIST in text_of(browser.get(LIST))
    other = reverse("schemas", args=["staging"])
    page = text_of(browser.get(other))
    assert "has no schema registry" in page
    assert f'href="{other}"' not in page


def test_a_subject_shows_its_newest_version_and_its_topic(browser):
    page = text_of(browser.get(url("subject")))
    assert "&quot;amount&quot;" in page
    assert reverse("messages", args=["local", "orders"]) in page
    assert "&quot;amount&quot;" not in text_of(browser.get(url("subject"), {"version": "1"}))


def test_two_versions_are_compared(browser):
    page = text_of(browser.get(url("subject"), {"version": "2", "compare": "1"}))
    assert "From version 1 to 2" in page
    assert '<span class="text-success">+' in page


def test_references_link_to_their_subject(browser):
    assert url("subject") + "?version=1" in text_of(browser.get(url("subject", "salaries-value")))


def test_what_the_registry_does_not_have_is_said(browser):
    for answer in (
        browser.get(url("subject", "nothing-value")),
        browser.get(url("subject"), {"version": "9"}),
    ):
        assert answer.status_code == 404
        assert "The schema registry has no" in text_of(answer)


def test_a_registry_that_fails_is_an_error_of_the_page(browser, registry):
    registry.override["/subjects"] = (500, b"{}")
    answer = browser.get(LIST)
    assert answer.status_code == 503
    assert "answers with status 500" in text_of(answer)


def test_a_scope_shows_the_subjects_of_its_topics_only(registry, client_of):
    browser = client_of(a_user("narrow", "admin", topics=["salaries"]))
    page = text_of(browser.get(LIST))
    assert "salaries-value" in page
    assert VALUE not in page
    assert "shop.Order" not in page
    assert VALUE not in text_of(browser.get(url("subject", "salaries-value")))
    assert VALUE not in text_of(browser.get(url("schema-register", "salaries-value")))
    for name in ("subject", "schema-register", "schema-compatibility", "schema-delete"):
        assert browser.get(url(name)).status_code == 404
    form = {"subject": VALUE, "type": "AVRO", "schema": '"string"'}
    answer = browser.post(reverse("schema-create", args=["local"]), form)
    assert answer.status_code == 422
    form = {"type": "AVRO", "schema": '"string"', "references": f"Order {VALUE} 1"}
    assert browser.post(url("schema-register", "salaries-value"), form).status_code == 422


def test_a_version_is_registered_audited_and_undone(browser, registry):
    third = SECOND.replace("long", "int")
    assert "&quot;amount&quot;" in text_of(browser.get(url("schema-register")))
    plan = plan_of(browser.post(url("schema-register"), {"type": "AVRO", "schema": third}))
    assert any("int" in each["after"] for each in plan.draft["changes"])
    assert apply(plan).state == models.DONE, plan.outcome
    assert schemas_of(registry)[3] == third
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource) == ("schema.register", VALUE)
    assert undo(browser, plan, VALUE).state == models.DONE
    assert list(schemas_of(registry)) == [1, 2]


def test_the_first_version_of_a_subject_is_registered_with_its_references(browser, registry):
    form = {"subject": "orders-key", "type": "AVRO", "schema": '"string"',
            "references": f"Order {VALUE} 1"}  # fmt: skip
    plan = apply(plan_of(browser.post(reverse("schema-create", args=["local"]), form)))
    assert plan.state == models.DONE, plan.outcome
    (_id, fields) = registry.versions("orders-key")[1]
    assert fields["references"] == [{"name": "Order", "subject": VALUE, "version": 1}]


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"type": "AVRO", "schema": '"incompatible"'}, "a field without a default"),
        ({"type": "AVRO", "schema": FIRST}, "has this schema already, as version 1"),
        ({"type": "AVRO", "schema": ""}, "This field is required"),
        ({"type": "AVRO", "schema": '"int"', "references": "Order"}, "A reference has a name"),
        ({"type": "AVRO", "schema": '"int"', "references": "a b 1234567890"}, "A reference has"),
        ({"type": "AVRO", "schema": '"int"', "references": "a b 1x"}, "A reference has"),
    ],
)
def test_a_schema_that_cannot_be_registered_says_why(browser, form, why):
    answer = browser.post(url("schema-register"), form)
    assert answer.status_code == 422
    assert why in text_of(answer)


def test_a_schema_that_does_not_parse_is_not_a_cluster_that_cannot_be_read(browser):
    page = text_of(browser.post(url("schema-register"), {"type": "AVRO", "schema": "unparsable"}))
    assert "The schema registry refuses it (status 422): Invalid schema" in page
    assert "could not be read" not in page


def test_the_first_version_of_a_subject_can_be_planned_again_after_it_failed(browser, registry):
    form = {"subject": "orders-key", "type": "AVRO", "schema": '"unparsable"'}
    page = text_of(browser.post(reverse("schema-create", args=["local"]), form))
    assert url("subject", "orders-key") not in page
    again = browser.get(url("schema-register", "orders-key"))
    assert again.status_code == 200
    assert 'name="schema"' in text_of(again)


def test_a_plan_is_refused_if_the_subject_got_another_version(browser, registry):
    plan = plan_of(browser.post(url("schema-register"), {"type": "AVRO", "schema": '"int"'}))
    registry.add(VALUE, '"long"')
    assert apply(plan).state == models.REFUSED
    assert "The latest version is 3 now" in str(plan.outcome)


def test_compatibility_is_changed_and_undone(browser, registry):
    plan = apply(plan_of(browser.post(url("schema-compatibility"), {"level": "FULL"})))
    assert plan.state == models.DONE, plan.outcome
    assert registry.compatibility[VALUE] == "FULL"
    assert undo(browser, plan).state == models.DONE
    assert VALUE not in registry.compatibility
    answer = browser.post(url("schema-compatibility"), {"level": ""})
    assert "has this compatibility already" in text_of(answer)


def test_a_version_is_deleted_after_its_subject_was_typed_and_undone(browser, registry):
    plan = plan_of(browser.post(url("schema-delete"), {"version": "2"}))
    assert plan.draft["typed_name"] == VALUE
    assert apply(plan, VALUE).state == models.DONE, plan.outcome
    assert schemas_of(registry) == {1: FIRST}
    assert undo(browser, plan).state == models.DONE
    assert schemas_of(registry) == {1: FIRST, 3: SECOND}


def test_operators_register_and_only_admins_delete(registry, client_of, operator, viewer):
    page = text_of(client_of(operator).get(url("subject")))
    assert url("schema-register") in page
    assert url("schema-delete") not in page
    assert client_of(operator).get(url("schema-delete")).status_code == 403
    assert url("schema-register") not in text_of(client_of(viewer).get(url("subject")))


def test_a_read_only_cluster_has_no_forms(browser, sampled):
    cluster = sampled[0]
    cluster.read_only = True
    cluster.save()
    answer = browser.get(url("schema-register"))
    assert answer.status_code == 422
    assert "read-only" in text_of(answer)

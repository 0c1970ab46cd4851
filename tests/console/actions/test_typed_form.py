"""“Plan again” opens the form with what its user had typed."""

from datetime import timedelta

import pytest
from django import forms
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from console.accounts.models import RoleGrant
from console.actions import models, plan_worker, registry, typed_form
from console.actions.models import Plan
from tests.console.actions.conftest import confirm_and_run
from tests.console.conftest import BROKERS, a_user, by, sample_next
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

CONFIGURE = "/c/local/topics/orders/configure"
TYPED = [
    (
        "/c/local/create-topic",
        {"name": "new", "partitions": "7", "replication": "2", "settings": "segment.bytes=60000"},
    ),
    (CONFIGURE, {"retention.ms": "1234567", "opened:retention.ms": "604800000"}),
    ("/c/local/topics/orders/add-partitions", {"total": "31"}),
    ("/c/local/topics/orders/purge", {"how": "offset", "offset": "1", "partitions": "0-1"}),
    (
        "/c/local/change-topics",
        {
            "topic": ["orders"], "action": "topics.configure", "plan": "1",
            "setting": "segment.bytes", "value": "1234567",
        },
    ),
    (
        "/c/local/group-reset/billing",
        {"how": "shift", "shift": "-1", "topic": "orders", "partitions": "0"},
    ),
    ("/c/local/group-offsets-delete/billing", {"topic": "orders"}),
    (
        "/c/local/reassign",
        {"topic": ["orders"], "plan": "1", "brokers": "1, 2", "factor": "2", "throttle": "17"},
    ),
    ("/c/local/quotas/edit", {"user": "ann", "producer_byte_rate": "12345"}),
    ("/c/local/brokers/1/config/message.max.bytes", {"value": "1234567", "applies_to": "all"}),
    ("/c/local/brokers/1/loggers/root", {"level": "WARN"}),
    ("/c/local/topics/orders/write", {"key": "k", "value": "v 1", "times": "3"}),
    ("/c/local/topics/orders/write/lines", {"lines": '{"value": "v 1"}', "partition": "1"}),
]  # fmt: skip


@pytest.fixture
def fake(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    sample_next(brokers=[broker | {"source": "none"} for broker in BROKERS])
    fake_cluster.create_topic("orders", 2, 1)
    fake_cluster.produce("orders", 0, b"a", b"b")
    fake_cluster.produce("orders", 1, b"a", b"b")
    fake_cluster.commits["billing"] = {("orders", 0): 1}
    return fake_cluster


@pytest.fixture
def browser(fake, client_of, admin) -> Client:
    return client_of(admin)


def again(browser: Client, url: str, typed: dict[str, str | list[str]]) -> tuple[Plan, str]:
    """A plan that expired, and the URL of its link."""
    answer = browser.post(url, typed)
    assert answer.status_code == 302, answer.context["form"].errors
    Plan.objects.update(created_at=timezone.now() - timedelta(minutes=16))
    plan = Plan.objects.get()
    page = browser.get(answer.url).content.decode()
    expected = f"{url}?again={plan.pk}"
    assert f'href="{expected}">Plan again' in page
    return plan, expected


def data_of(answer) -> QueryDict:
    return answer.context["form"].data


@pytest.mark.parametrize(("url", "typed"), TYPED, ids=lambda each: str(each)[:40])
def test_each_form_opens_with_what_was_typed_and_makes_no_plan(browser, url, typed):
    plan, link = again(browser, url, typed)
    assert url not in plan.typed, "it is encrypted"
    for name, value in typed.items():
        expected = value if isinstance(value, list) else [value]
        assert data_of(browser.get(link)).getlist(name) == expected
    page = browser.get(link)
    assert page.status_code == 200
    shown = page.content.decode()
    texts = [
        value
        for name, value in typed.items()
        if isinstance(value, str) and not name.startswith("opened:")
    ]
    assert all(value.replace('"', "&quot;") in shown for value in texts)
    assert Plan.objects.count() == 1, "a GET makes no plan"
    assert browser.post(url, typed).status_code == 302


def test_settings_that_another_user_changed_are_named_and_not_set_back(browser, fake):
    posted = {
        "retention.ms": "1234567", "opened:retention.ms": "604800000",
        "segment.bytes": "1073741824", "opened:segment.bytes": "1073741824",
    }  # fmt: skip
    _plan, link = again(browser, CONFIGURE, posted)
    fake.topics["orders"].configs["segment.bytes"] = "2000000"
    page = browser.get(link).content.decode()
    assert "Somebody else changed settings" in page
    assert 'value="1234567"' in page
    assert 'name="segment.bytes" value="2000000"' in page


def test_a_refused_plan_is_planned_again_with_its_values(browser, fake, admin):
    browser.post(CONFIGURE, {"retention.ms": "1234567"})
    fake.topics["orders"].configs["retention.ms"] = "5"
    plan = confirm_and_run(Plan.objects.get(), admin)
    assert plan.state == models.REFUSED
    assert data_of(browser.get(typed_form.again_url(plan)))["retention.ms"] == "1234567"


def test_a_plan_that_is_done_keeps_nothing(browser, admin):
    browser.post(CONFIGURE, {"retention.ms": "1234567"})
    plan = confirm_and_run(Plan.objects.get(), admin)
    assert plan.state == models.DONE
    assert plan.typed == ""


def test_only_the_same_user_and_the_same_form_get_it(browser, client_of):
    _plan, link = again(browser, CONFIGURE, {"retention.ms": "1234567"})
    other = client_of(a_user("second", "admin"))
    assert "1234567" not in other.get(link).content.decode()
    query = link.partition("?")[2]
    assert "1234567" not in browser.get(f"/c/local/create-topic?{query}").content.decode()
    for id in ("", "x", "00000000-0000-0000-0000-000000000001"):
        assert browser.get(f"{CONFIGURE}?again={id}").status_code == 200


def test_a_user_who_lost_the_right_to_the_target_gets_nothing(browser, admin):
    plan, link = again(browser, CONFIGURE, {"retention.ms": "1234567"})
    RoleGrant.objects.filter(user=admin).update(topics=["payments"])
    assert browser.get(link).status_code in (403, 404)
    assert typed_form.find(by(admin), CONFIGURE, str(plan.pk)) is None


class SecretForm(forms.Form):
    name = forms.CharField()
    password = forms.CharField(widget=forms.PasswordInput)


def test_passwords_are_never_stored_and_large_forms_neither(browser, admin):
    plan, _link = again(browser, CONFIGURE, {"retention.ms": "1234567"})
    posted = QueryDict("name=a&password=secret&csrfmiddlewaretoken=t")
    typed_form.store(plan, "/form", SecretForm(posted), posted)
    found = typed_form.find(by(admin), "/form", str(plan.pk))
    assert found is not None
    assert found.dict() == {"name": "a"}
    large = QueryDict(mutable=True)
    large["name"] = "x" * typed_form.BYTES_MAX
    typed_form.store(plan, "/large", SecretForm(large), large)
    assert typed_form.find(by(admin), "/large", str(plan.pk)) is None


def test_what_was_typed_is_deleted_in_time_that_of_records_first(browser):
    browser.post(CONFIGURE, {"retention.ms": "1234567"})
    browser.post("/c/local/topics/orders/write", {"value": "v 1"})
    Plan.objects.update(created_at=timezone.now() - timedelta(hours=2))
    plan_worker.delete_old()
    kept = {plan.action: bool(plan.typed) for plan in Plan.objects.all()}
    assert kept == {"topic.configure": True, "record.write": False}
    Plan.objects.update(created_at=timezone.now() - registry.find("topic.configure").typed_kept)
    plan_worker.delete_old()
    assert not any(plan.typed for plan in Plan.objects.all())

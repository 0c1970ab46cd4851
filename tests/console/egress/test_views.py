"""Admins allow targets; the check of webhooks uses them at once."""

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from monitoring.alerts import post_webhook
from monitoring.models import EgressTarget
from tests.support.webhook import webhook_server  # noqa: F401

pytestmark = pytest.mark.django_db
TARGET = {"host": "127.0.0.1", "port": "", "purpose": "webhook", "note": "our chat"}


@pytest.fixture
def client(client_of, admin):
    return client_of(admin)


def add(client, **changes):
    return client.post(reverse("egress"), TARGET | changes)


def test_an_admin_allows_a_target_and_removes_it_again_with_both_in_the_audit_log(client, admin):
    assert add(client, host="10.1.2.3/16", port="8080").status_code == 302
    target = EgressTarget.objects.get()
    assert (target.host, target.port, target.created_by) == ("10.1.0.0/16", 8080, "admin")
    assert "10.1.0.0/16" in client.get(reverse("egress")).content.decode()
    assert client.post(reverse("egress-remove", args=[target.pk])).status_code == 302
    assert not EgressTarget.objects.exists()
    removed, added = AuditEntry.objects.filter(action__startswith="egress.")
    fields = {"host": "10.1.0.0/16", "port": 8080, "purpose": "webhook", "note": "our chat"}
    assert (added.action, added.before, added.after) == ("egress.add", {}, fields)
    assert (removed.action, removed.before, removed.after) == ("egress.remove", fields, {})
    assert added.resource == removed.resource == "10.1.0.0/16:8080"
    assert added.actor == admin


def test_targets_of_the_setting_are_shown_and_cannot_be_removed(client, settings):
    settings.AERIE_EGRESS_ALLOW = ["hooks.internal", "10.0.0.0/8"]
    page = client.get(reverse("egress")).content.decode()
    assert page.count("AERIE_EGRESS_ALLOW") == 2
    assert "hooks.internal" in page
    assert "/remove" not in page


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"host": ""}, "This field is required"),
        ({"host": "https://hooks.internal/x"}, "without https://"),
        ({"host": "169.254.169.254"}, "can never be allowed"),
        ({"host": "0.0.0.0/0"}, "at least 8 bits"),
        ({"host": "8.8.8.8"}, "without an entry"),
        ({"port": "0"}, "greater than or equal to 1"),
        ({"port": "65536"}, "less than or equal to 65535"),
        ({"purpose": "gossip"}, "Select a valid choice"),
    ],
)
def test_a_bad_value_is_reported_at_its_field(client, changes, said):
    answer = add(client, **changes)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not EgressTarget.objects.exists()
    assert not AuditEntry.objects.filter(action="egress.add").exists()


def test_a_target_is_allowed_once(client):
    assert add(client).status_code == 302
    answer = add(client, note="again")
    assert answer.status_code == 422
    assert "allowed already" in answer.content.decode()


def test_the_number_of_targets_is_limited(client, monkeypatch):
    for module in ("services", "forms"):
        monkeypatch.setattr(f"console.egress.{module}.TARGETS_MAX", 1)
    assert add(client).status_code == 302
    answer = add(client, host="10.0.0.1")
    assert answer.status_code == 422
    assert "At most 1 targets" in answer.content.decode()
    assert EgressTarget.objects.count() == 1


def test_a_target_that_was_removed_already_is_not_found(client):
    assert client.post(reverse("egress-remove", args=[7])).status_code == 404


def test_the_query_fills_in_the_form(client):
    page = client.get(reverse("egress"), {"host": "10.0.0.1", "port": "8080"}).content.decode()
    assert 'value="10.0.0.1"' in page
    assert 'value="8080"' in page


@pytest.mark.parametrize("who", ["viewer", "operator", "outsider"])
def test_others_can_neither_see_nor_change_targets(who, request, client_of):
    target = EgressTarget.objects.create(host="10.66.0.1")
    client = client_of(request.getfixturevalue(who))
    answers = [
        client.get(reverse("egress")),
        add(client),
        client.post(reverse("egress-remove", args=[target.pk])),
    ]
    assert [answer.status_code for answer in answers] == [403] * 3
    assert not [answer for answer in answers if "10.66.0.1" in answer.content.decode()]
    assert EgressTarget.objects.get() == target


@pytest.mark.usefixtures("sampled")
def test_the_refusal_of_a_webhook_leads_admins_to_the_page_with_the_target_filled_in(
    client, client_of, operator
):
    rule = {
        "name": "late", "group_pattern": "*", "threshold": 1, "for_seconds": 0,
        "url": "http://10.0.0.1:8080/hook",
    }  # fmt: skip
    url = reverse("alert-rule-add", args=["local"])
    link = f"{reverse('egress')}?host=10.0.0.1&amp;port=8080&amp;purpose=webhook"
    refused = client.post(url, rule).content.decode()
    assert "on the page “Outgoing requests”" in refused
    assert link in refused
    assert link not in client_of(operator).post(url, rule).content.decode()
    add(client, host="10.0.0.1", port="8080")
    assert client.post(url, rule).status_code == 302


def test_a_webhook_reaches_an_allowed_target_until_it_is_removed(client, settings, webhook_server):  # noqa: F811
    settings.AERIE_EGRESS_ALLOW = []
    refused = post_webhook.post(webhook_server.url, "", 1, {}, 0)
    assert refused.error.code == "address_not_public"
    add(client)
    assert post_webhook.post(webhook_server.url, "", 1, {}, 0).delivered
    client.post(reverse("egress-remove", args=[EgressTarget.objects.get().pk]))
    refused = post_webhook.post(webhook_server.url, "", 1, {}, 0)
    assert refused.error.code == "address_not_public"

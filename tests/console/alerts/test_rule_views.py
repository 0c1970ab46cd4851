import json
import socket

import pytest
from django.urls import reverse

from console.accounts import outgoing_connection_rate_limit
from console.alerts import services
from console.audit.models import AuditEntry
from monitoring.alerts.evaluate import RULE_DISABLED
from monitoring.error_reason import dumps
from monitoring.models import Alert, AlertDelivery, AlertRule

pytestmark = pytest.mark.usefixtures("sampled")
URL = "http://127.0.0.1:9/hook?token=t0ken"
VALID = {
    "name": "billing is late", "group_pattern": "bill*", "topic_pattern": "", "threshold": "100",
    "for_seconds": "60", "enabled": "on", "url": "", "secret": "",
}  # fmt: skip


@pytest.fixture
def client(client_of, operator, settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    return client_of(operator)


def add(client, **changes):
    return client.post(reverse("alert-rule-add", args=["local"]), VALID | changes)


def edit(client, rule, **changes):
    return client.post(reverse("alert-rule", args=["local", rule.pk]), VALID | changes)


def test_a_rule_is_created_and_listed_with_the_number_of_matching_groups(client):
    assert add(client, url=URL, secret="s3cret").status_code == 302
    rule = AlertRule.objects.get()
    assert (rule.cluster.slug, rule.threshold, rule.created_by) == ("local", 100, "operator")
    assert rule.decrypt_webhook() == (URL, "s3cret")
    html = client.get(reverse("alert-rules", args=["local"])).content.decode()
    assert "1 group now" in html
    assert "127.0.0.1" in html


def test_url_and_secret_are_never_shown_again_nor_audited(client):
    add(client, url=URL, secret="s3cret")
    rule = AlertRule.objects.get()
    html = client.get(reverse("alert-rule", args=["local", rule.pk])).content.decode()
    audited = json.dumps(list(AuditEntry.objects.values("before", "after")))
    for text in (html, audited, rule.webhook_url, rule.webhook_secret):
        assert "t0ken" not in text
        assert "s3cret" not in text


def test_the_audit_log_records_a_webhook_change_on_the_same_host(client):
    add(client, url=URL, secret="s3cret")
    rule = AlertRule.objects.get()
    edit(client, rule, url=f"{URL}/other", secret="s3cret")
    entry = AuditEntry.objects.filter(action="alert.edit").latest("pk")
    assert entry.before["webhook"] == entry.after["webhook"]
    assert entry.before["webhook_fingerprint"] != entry.after["webhook_fingerprint"]


def test_an_empty_url_keeps_the_webhook_and_the_box_removes_it(client):
    add(client, url=URL, secret="s3cret")
    rule = AlertRule.objects.get()
    edit(client, rule, threshold="7")
    rule.refresh_from_db()
    assert (rule.threshold, rule.decrypt_webhook()) == (7, (URL, "s3cret"))
    edit(client, rule, no_webhook="on")
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == ("", "")


@pytest.mark.parametrize(
    "elsewhere",
    ["http://127.0.0.1:10/hook", "https://127.0.0.1:9/hook", "http://127.0.0.2:9/hook"],
)
def test_a_stored_secret_is_not_used_for_another_address(client, settings, elsewhere):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.0/8"]
    add(client, url=URL, secret="s3cret")
    rule = AlertRule.objects.get()
    refused = edit(client, rule, url=elsewhere)
    assert refused.status_code == 422
    assert "Enter the secret again" in refused.content.decode()
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == (URL, "s3cret")
    assert edit(client, rule, url=elsewhere, secret="another").status_code == 302
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == (elsewhere, "another")


def test_a_secret_is_kept_if_only_the_path_changes_and_removed_with_the_webhook(client):
    add(client, url=URL, secret="s3cret")
    rule = AlertRule.objects.get()
    assert edit(client, rule, url="HTTP://127.0.0.1:9/other").status_code == 302
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == ("HTTP://127.0.0.1:9/other", "s3cret")
    unsigned = "http://127.0.0.1:10/hook"
    assert edit(client, rule, url=unsigned, no_webhook="on").status_code == 302
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == (unsigned, "")


def test_a_webhook_that_cannot_be_decrypted_must_be_entered_again(client, make_rule):
    rule = make_rule()
    AlertRule.objects.update(webhook_url="sealed with a lost key")
    assert "is at ?" in client.get(reverse("alert-rule", args=["local", rule.pk])).content.decode()
    assert edit(client, rule, url=URL).status_code == 302
    rule.refresh_from_db()
    assert rule.decrypt_webhook() == (URL, "")


def test_editing_a_rule_without_the_key_keeps_its_webhook(client, settings, tmp_path):
    add(client, url=URL, secret="s3cret")
    rule, key_file = AlertRule.objects.get(), settings.AERIE_SECRET_KEY_FILE
    settings.AERIE_SECRET_KEY_FILE = tmp_path / "away"
    assert edit(client, rule, threshold="7").status_code == 302
    for typed in ({"url": URL}, {"secret": "new"}):
        refused = edit(client, rule, **typed)
        assert refused.status_code == 422
        assert "is missing" in refused.content.decode()
    settings.AERIE_SECRET_KEY_FILE = key_file
    rule.refresh_from_db()
    assert (rule.threshold, rule.decrypt_webhook()) == (7, (URL, "s3cret"))


def test_a_secret_alone_makes_no_webhook(client, make_rule):
    answer = edit(client, make_rule(), secret="s3cret")
    assert answer.status_code == 422
    assert "Enter the URL, too" in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "required"),
        ({"group_pattern": ""}, "required"),
        ({"group_pattern": "two words"}, "spaces"),
        ({"threshold": "-1"}, "greater than or equal to 0"),
        ({"threshold": "many"}, "whole number"),
        ({"for_seconds": "90000"}, "less than or equal to 86400"),
        ({"url": "ftp://example.com/"}, "valid URL|http://"),
        ({"url": "http://10.0.0.1/hook"}, "AERIE_EGRESS_ALLOW"),
        ({"topic_pattern": "console.audit"}, "does not include these topics"),
    ],
)
def test_a_bad_value_is_reported_at_its_field(client, changes, said):
    answer = add(client, **changes)
    assert answer.status_code == 422
    assert any(part in answer.content.decode() for part in said.split("|"))
    assert not AlertRule.objects.exists()


def resolving_to(monkeypatch, address):
    def getaddrinfo(host, port, **_):
        return [(0, 0, 0, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_only_admins_see_the_private_address_of_a_host_name(client, client_of, admin, monkeypatch):
    resolving_to(monkeypatch, "10.1.2.3")
    refused = add(client, url="http://db.internal/").content.decode()
    assert "db.internal is not a public address" in refused
    assert "10.1.2.3" not in refused
    refused = add(client_of(admin), url="http://db.internal/").content.decode()
    assert "Its address is 10.1.2.3." in refused


def test_url_checks_are_rate_limited(client, monkeypatch):
    resolving_to(monkeypatch, "10.1.2.3")
    answers = [
        add(client, url=f"http://host-{number}.internal/").content.decode()
        for number in range(outgoing_connection_rate_limit.PER_MINUTE_MAX + 1)
    ]
    assert all("is not a public address" in answer for answer in answers[:-1])
    assert "Too many URLs" in answers[-1]
    assert "public" not in answers[-1]


def test_rule_names_are_unique_per_cluster(client, make_rule, clusters):
    make_rule("billing is late", cluster=clusters[1])
    assert add(client).status_code == 302
    assert add(client).status_code == 422


def test_disabling_a_rule_resolves_its_alerts_and_it_can_be_enabled_again(
    client, make_rule, make_alert
):
    rule = make_rule()
    make_alert(rule)
    switch = reverse("alert-switch", args=["local", rule.pk])
    client.post(switch, {"enabled": "0"})
    rule.refresh_from_db()
    assert not rule.enabled
    assert Alert.objects.get().resolved_reason == dumps(RULE_DISABLED)
    client.post(switch, {"enabled": "1"})
    rule.refresh_from_db()
    assert rule.enabled
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["alert.disable", "alert.enable"]


def test_deleting_asks_for_the_name(client, make_rule):
    rule = make_rule()
    delete = reverse("alert-delete", args=["local", rule.pk])
    client.post(delete, {"typed": "something"})
    assert AlertRule.objects.exists()
    client.post(delete, {"typed": "late"})
    assert not AlertRule.objects.exists()
    assert AuditEntry.objects.get().action == "alert.delete"


def test_a_rule_with_a_webhook_is_not_deleted_while_it_fires(client, make_rule, make_alert):
    rule = make_rule(url=URL)
    make_alert(rule)
    delete = reverse("alert-delete", args=["local", rule.pk])
    answer = client.post(delete, {"typed": "late"}, follow=True)
    assert "Disable it first" in answer.content.decode()
    client.post(reverse("alert-switch", args=["local", rule.pk]), {"enabled": "0"})
    assert AlertDelivery.objects.get().event == "resolved"
    client.post(delete, {"typed": "late"})
    assert not AlertRule.objects.exists()


def test_a_rule_that_matches_nothing_says_so(client, make_rule):
    make_rule(group_pattern="nobody-*")
    html = client.get(reverse("alert-rules", args=["local"])).content.decode()
    assert "no matching group" in html
    assert "0 groups now" in html


def test_a_test_message_is_logged_and_queued(
    client, make_rule, monkeypatch, django_capture_on_commit_callbacks
):
    queued = []
    monkeypatch.setattr(services, "enqueue", queued.append)
    rule = make_rule(url=URL)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("alert-test", args=["local", rule.pk]))
    assert answer.headers["Location"] == reverse("alert-deliveries", args=["local"])
    delivery = AlertDelivery.objects.get()
    assert (delivery.event, delivery.state, queued) == ("test", "waiting", [delivery.pk])


def test_tests_are_limited_and_need_a_webhook(client, make_rule):
    silent = make_rule("silent")
    client.post(reverse("alert-test", args=["local", silent.pk]))
    assert not AlertDelivery.objects.exists()
    rule = make_rule(url=URL)
    for _ in range(outgoing_connection_rate_limit.PER_MINUTE_MAX + 3):
        client.post(reverse("alert-test", args=["local", rule.pk]))
    assert AlertDelivery.objects.count() == outgoing_connection_rate_limit.PER_MINUTE_MAX


def test_a_rule_of_another_cluster_is_404(client, make_rule, clusters):
    rule = make_rule(cluster=clusters[1])
    for name in ("alert-switch", "alert-test", "alert-delete"):
        assert client.post(reverse(name, args=["local", rule.pk])).status_code == 404
    assert client.get(reverse("alert-rule", args=["local", rule.pk])).status_code == 404


def test_a_viewer_sees_rules_but_cannot_change_them(client_of, viewer, make_rule):
    rule = make_rule()
    client = client_of(viewer)
    assert "late" in client.get(reverse("alert-rules", args=["local"])).content.decode()
    assert edit(client, rule).status_code == 403
    assert add(client).status_code == 403

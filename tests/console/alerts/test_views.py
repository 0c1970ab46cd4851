import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from monitoring.alerts.evaluate import RULE_DISABLED
from monitoring.error_reason import dumps
from monitoring.models import AlertDelivery
from tests.support.pseudo_language import LANGUAGE, pseudo_language

pytestmark = pytest.mark.usefixtures("sampled")


def page(client, name="alerts", cluster="local", **query):
    answer = client.get(reverse(name, args=[cluster]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_without_rules_the_page_says_what_to_do(client_of, operator, viewer):
    assert "Create a rule" in page(client_of(operator))
    assert "Create a rule" not in page(client_of(viewer))


def test_a_firing_alert_shows_its_lag_now_and_when_it_fired(
    client_of, viewer, make_rule, make_alert
):
    make_alert(make_rule("billing is late"))
    html = page(client_of(viewer))
    assert "billing is late" in html
    assert "Lag now" in html
    assert ">80<" in html


def test_an_alert_with_unknown_lag_shows_since_when(client_of, viewer, make_rule, make_alert):
    make_alert(make_rule(), "vanished", unknown_since_ms=1_760_000_000_000)
    text = " ".join(re.sub("<[^>]+>", "", page(client_of(viewer))).split())
    assert "— not known since 2025-10-09 08:53:20 UTC" in text


def test_a_resolved_alert_moves_to_the_past_with_its_reason(
    client_of, viewer, make_rule, make_alert
):
    rule = make_rule()
    make_alert(
        rule, state="resolved", resolved_at_ms=71_000, resolved_reason="the rule was disabled",
        lag_peak=98_765,
    )  # fmt: skip
    make_alert(rule, "b", state="resolved", resolved_at_ms=71_000)
    html = page(client_of(viewer))
    assert "No firing alerts" in html
    assert "60 s" in html
    assert "Peak" in html
    assert "the rule was disabled" in html
    assert ">98\u202f765<" in html
    assert "the lag fell" in html


def test_alerts_of_another_cluster_are_not_shown(
    client_of, viewer, make_rule, make_alert, clusters
):
    make_alert(make_rule("elsewhere", cluster=clusters[1]))
    for name in ("alerts", "alert-rules", "alert-deliveries"):
        assert "elsewhere" not in page(client_of(viewer), name)
    assert "elsewhere" in page(client_of(viewer), "alerts", "staging")


def test_alerts_on_hidden_topics_are_for_admins(client_of, viewer, admin, make_rule, make_alert):
    rule = make_rule("audited", topic_pattern="console.audit", group_pattern="auditors")
    make_alert(rule, "auditors", topic="console.audit")
    AlertDelivery.objects.create(rule=rule, event="test", payload={})
    for name in ("alerts", "alert-rules", "alert-deliveries"):
        assert "audited" not in page(client_of(viewer), name)
        assert "audited" in page(client_of(admin), name)


def test_the_delivery_log_shows_the_result_of_each_message(client_of, viewer, make_rule):
    rule = make_rule(url="http://hooks.example/secret-path?token=t0ken")
    AlertDelivery.objects.create(
        rule=rule, event="fired", payload={}, state="failed", attempts=7, status_code=500,
        error="answered 500",
    )  # fmt: skip
    html = page(client_of(viewer), "alert-deliveries")
    assert "answered 500" in html
    assert "Failed" in html
    assert "t0ken" not in html


def test_a_retried_message_shows_its_next_attempt_but_never_a_past_time(
    client_of, viewer, make_rule
):
    rule, now = make_rule(), timezone.now()
    later = {"next_attempt_at": now + timedelta(hours=1)}
    tried = {"rule": rule, "event": "fired", "payload": {}, "attempts": 1}
    delivery = AlertDelivery.objects.create(**tried, **later, error="answered 500")
    assert f"next attempt at {later['next_attempt_at']:%Y-%m-%d %H:%M}" in text_of_deliveries(
        client_of(viewer)
    )
    change(delivery, queued_at=now, attempted_at=now)
    assert "being sent" in text_of_deliveries(client_of(viewer))
    change(delivery, next_attempt_at=now - timedelta(seconds=1))
    text = text_of_deliveries(client_of(viewer))
    assert "next attempt when a worker is free" in text
    assert "tried again at" not in text
    change(delivery, state="failed")
    assert "tried again" not in text_of_deliveries(client_of(viewer))


def text_of_deliveries(client):
    return " ".join(re.sub("<[^>]+>", "", page(client, "alert-deliveries")).split())


def change(delivery, **fields):
    AlertDelivery.objects.filter(pk=delivery.pk).update(**fields)


def test_pages_open_without_any_sample(client_of, viewer, make_rule, make_alert, redis_server):
    make_alert(make_rule())
    redis_server.kill()
    try:
        for name in ("alerts", "alert-rules", "alert-deliveries"):
            assert "late" in page(client_of(viewer), name) or name == "alert-deliveries"
    finally:
        redis_server.start()


def test_the_reason_of_a_resolved_alert_is_translated(client_of, viewer, make_rule, make_alert):
    make_alert(
        make_rule(), state="resolved", resolved_at_ms=71_000, resolved_reason=dumps(RULE_DISABLED)
    )
    with pseudo_language():
        asked = {"headers": {"accept-language": LANGUAGE}}
        html = client_of(viewer).get(reverse("alerts", args=["local"]), **asked).content.decode()
    assert f"⟦{RULE_DISABLED}⟧" in html

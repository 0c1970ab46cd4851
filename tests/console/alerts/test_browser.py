"""An alert from rule to resolution, as a person sees it: real server, browser, Redis, webhook."""

import json

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from monitoring.alerts import tasks
from monitoring.alerts.evaluate import evaluate
from monitoring.models import AlertDelivery
from monitoring.sampling.sample_cluster import notify
from monitoring.ticks.tick_stream import put_tick
from tests.console.conftest import BROKERS, GROUPS, PARTITIONS, tick_now
from tests.monitoring.tick_factory import make_tick
from tests.support.web import sign_in

pytestmark = pytest.mark.browser
LIVE_MS = 20_000


@pytest.fixture
def tick():
    """Makes the next tick with that lag of `billing`, judges and announces it, as the sampler."""
    number = tick_now()

    def one(committed):
        nonlocal number
        number += 1
        groups = [row | {"committed_offset": committed} for row in GROUPS]
        made = make_tick(number, partitions=PARTITIONS, groups=groups, brokers=BROKERS)
        put_tick(made)
        notify("tick.local", "tick", made)
        if evaluate(made):
            notify("alerts.local", "alerts", made)

    return one


def test_a_rule_is_created_fires_calls_the_webhook_and_resolves_on_a_live_page(
    web, page, clusters, operator, tick, webhook_server
):
    tick(committed=100)
    sign_in(page, web, operator)
    page.goto(web + reverse("alerts", args=["local"]))
    page.get_by_role("link", name="Create a rule").click()
    page.fill("[name=name]", "billing is late")
    page.fill("[name=group_pattern]", "bill*")
    page.fill("[name=threshold]", "50")
    page.fill("[name=for_seconds]", "0")
    page.fill("[name=url]", "http://10.0.0.1/hook")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".invalid-feedback")).to_contain_text("AERIE_EGRESS_ALLOW")
    page.fill("[name=url]", "")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".alert-success")).to_contain_text("billing is late")
    rule = clusters[0].alert_rules.get()
    rule.set_webhook(webhook_server.url, "s3cret")
    rule.save()

    page.goto(web + reverse("alerts", args=["local"]))
    expect(page.get_by_text("No firing alerts")).to_be_visible()
    tick(committed=40)
    expect(page.get_by_text("No firing alerts")).to_have_count(0, timeout=LIVE_MS)
    expect(page.locator("#alerts .badge")).to_have_text("firing")
    tick(committed=90)
    expect(page.get_by_text("No firing alerts")).to_be_visible(timeout=LIVE_MS)
    expect(page.get_by_text("the lag fell")).to_be_visible()

    for delivery in AlertDelivery.objects.order_by("id"):
        tasks.deliver(delivery.pk)
    told = [json.loads(received.body)["event"] for received in webhook_server.received]
    assert told == ["fired", "resolved"]
    page.goto(web + reverse("alert-deliveries", args=["local"]))
    expect(page.locator("#deliveries .badge")).to_have_text(["Delivered", "Delivered"])


def test_every_alert_page_fits_a_phone(web, page, clusters, operator, make_rule, make_alert, tick):
    tick(committed=40)
    rule = make_rule("a rule with a rather long name that does not fit", url="")
    make_alert(rule, "a-consumer-group-with-a-long-name", topic="orders")
    sign_in(page, web, operator)
    page.set_viewport_size({"width": 390, "height": 800})
    for name, arguments in (
        ("alerts", []),
        ("alert-rules", []),
        ("alert-deliveries", []),
        ("alert-rule-add", []),
        ("alert-rule", [rule.pk]),
    ):
        page.goto(web + reverse(name, args=["local", *arguments]))
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name

"""Deliveries to a real HTTP server."""

import json
import socket
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.alerts import post_webhook, tasks
from monitoring.alerts.delivery_retries import WAITS_S
from monitoring.alerts.webhook_message import example_payload, signature
from monitoring.egress import url_checks
from monitoring.error_reason import loads
from monitoring.models import AlertDelivery, AlertRule
from tests.support.hostile_http import MIB, answering, memory_below, zstd_bomb

pytestmark = pytest.mark.django_db


@pytest.fixture
def delivery(make_rule, webhook_server):
    rule = make_rule(webhook=webhook_server.url, secret="s3cret")
    return AlertDelivery.objects.create(
        rule=rule, event="test", payload=example_payload(rule, 10**12)
    )


def send(delivery):
    tasks.deliver(delivery.pk)
    delivery.refresh_from_db()
    return delivery


def make_due(delivery):
    AlertDelivery.objects.filter(pk=delivery.pk).update(next_attempt_at=timezone.now())


def test_a_message_arrives_signed_and_is_logged(delivery, webhook_server):
    send(delivery)
    assert (delivery.state, delivery.attempts, delivery.status_code) == ("delivered", 1, 204)
    [received] = webhook_server.received
    assert json.loads(received.body) == delivery.payload
    timestamp = int(received.headers["X-Aerie-Timestamp"])
    assert received.headers["X-Aerie-Signature"] == signature("s3cret", timestamp, received.body)
    assert received.headers["X-Aerie-Delivery"] == str(delivery.pk)


def test_a_message_is_sent_once_even_if_it_is_queued_twice(delivery, webhook_server):
    send(delivery)
    send(delivery)
    assert len(webhook_server.received) == 1


def test_a_failure_is_tried_again_later_and_then_arrives(delivery, webhook_server):
    webhook_server.answers = [500, 200]
    before = timezone.now()
    send(delivery)
    assert (delivery.state, delivery.status_code, loads(delivery.error)) == (
        "waiting",
        500,
        "answered 500",
    )
    assert delivery.next_attempt_at >= before + timedelta(seconds=WAITS_S[0])
    send(delivery)  # not due yet
    assert len(webhook_server.received) == 1
    make_due(delivery)
    send(delivery)
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    ids = {received.headers["X-Aerie-Delivery"] for received in webhook_server.received}
    assert ids == {str(delivery.pk)}


def test_a_delivery_fails_after_the_last_attempt(delivery, webhook_server):
    webhook_server.answers = [503]
    for _ in range(len(WAITS_S) + 1):
        make_due(delivery)
        send(delivery)
    assert (delivery.state, delivery.attempts) == ("failed", len(WAITS_S) + 1)
    assert delivery.finished_at is not None


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_refusal_is_final(delivery, webhook_server, status):
    webhook_server.answers = [status]
    assert send(delivery).state == "failed"


@pytest.mark.parametrize("status", [408, 429, 502])
def test_a_busy_server_is_retried(delivery, webhook_server, status):
    webhook_server.answers = [status]
    assert send(delivery).state == "waiting"


def test_redirects_are_not_followed(delivery, webhook_server):
    webhook_server.answers, webhook_server.location = [302], "http://169.254.169.254/"
    send(delivery)
    assert (delivery.state, len(webhook_server.received)) == ("failed", 1)
    assert "redirects" in delivery.error


def test_an_address_that_is_not_allowed_gets_no_connection(delivery, webhook_server, settings):
    settings.AERIE_EGRESS_ALLOW = []
    send(delivery)
    assert (delivery.state, webhook_server.received) == ("failed", [])
    assert "AERIE_EGRESS_ALLOW" in delivery.error
    assert "t0ken" not in delivery.error


@pytest.mark.parametrize(
    "url",
    [
        "http://bü\udcffcher.example/hook",
        "http://127.0.0.1:1/ho\x00ok",
        "http://a..b/hook",
        "http://127.0.0.1:1/\udcff",  # which only the client notices
    ],
)
def test_a_url_that_cannot_be_requested_is_not_retried(delivery, url, monkeypatch):
    monkeypatch.setattr(AlertRule, "decrypt_webhook", lambda rule: (url, ""))
    send(delivery)
    assert (delivery.state, delivery.attempts) == ("failed", 1)
    assert delivery.error


def test_an_international_host_name_gets_its_message(delivery, webhook_server, monkeypatch):
    port = int(webhook_server.url.split(":")[2].split("/")[0])
    asked = []

    def getaddrinfo(host, *_, **__):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))]

    monkeypatch.setattr(url_checks.socket, "getaddrinfo", getaddrinfo)
    delivery.rule.set_webhook(f"http://bücher.example:{port}/hook", "")
    delivery.rule.save()
    assert send(delivery).state == "delivered"
    assert webhook_server.received[0].headers["Host"] == f"xn--bcher-kva.example:{port}"


def test_a_refused_connection_is_retried(delivery):
    delivery.rule.set_webhook("http://127.0.0.1:1/hook", "")
    delivery.rule.save()
    send(delivery)
    assert (delivery.state, delivery.status_code) == ("waiting", None)


def test_an_endless_answer_is_cut_off(delivery, webhook_server):
    webhook_server.answers, webhook_server.body = [200], b"x" * 10_000_000
    assert send(delivery).state == "delivered"


def test_a_compressed_answer_is_not_decoded(delivery, webhook_server):
    with answering(zstd_bomb()) as (port, _):
        delivery.rule.set_webhook(f"http://127.0.0.1:{port}/", "")
        delivery.rule.save()
        with memory_below(64 * MIB):
            assert send(delivery).state == "delivered"


def test_a_rule_whose_webhook_was_removed_says_so(delivery):
    delivery.rule.set_webhook("", "")
    delivery.rule.save()
    assert "no longer has a webhook" in send(delivery).error


def test_a_slow_dns_lookup_ends_at_the_time_limit(delivery, monkeypatch):
    monkeypatch.setattr(post_webhook, "TIMEOUT_S", 0.3)
    answered = threading.Event()
    monkeypatch.setattr(url_checks.socket, "getaddrinfo", lambda *_, **__: answered.wait(60) and [])
    send(delivery)
    answered.set()
    assert (delivery.state, "no answer" in delivery.error) == ("waiting", True)


def test_a_server_that_answers_byte_by_byte_ends_at_the_time_limit(delivery, monkeypatch):
    monkeypatch.setattr(post_webhook, "TIMEOUT_S", 0.3)
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip():
            connection, _ = server.accept()
            with connection:
                while not stop.wait(0.05):
                    connection.sendall(b"X")

        threading.Thread(target=drip, daemon=True).start()
        delivery.rule.set_webhook(f"http://127.0.0.1:{server.getsockname()[1]}/", "")
        delivery.rule.save()
        send(delivery)
        stop.set()
    assert (delivery.state, "no answer" in delivery.error) == ("waiting", True)

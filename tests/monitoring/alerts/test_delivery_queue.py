"""Deliveries through a real queue: queued once, queued again if lost, independent of each other."""

import json
import socket
from contextlib import closing
from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.alerts import delivery_queue, tasks
from monitoring.alerts.webhook_message import example_payload
from monitoring.models import AlertDelivery
from tests.support.waiting import wait_until
from tests.support.worker import worker

QUEUE = "aerie:celery:deliveries"


def owed(rule, count=1, **fields):
    payload = example_payload(rule, 10**12)
    return [
        AlertDelivery.objects.create(rule=rule, event="test", payload=payload, **fields)
        for _ in range(count)
    ]


def queued(redis_server):
    """The deliveries that wait in the queue, the oldest message first."""
    messages = redis_server.client().lrange(QUEUE, 0, -1)
    return [json.loads(message)["headers"]["argsrepr"] for message in reversed(messages)]


def named(*deliveries):
    return [f"({delivery.pk},)" for delivery in deliveries]


@pytest.mark.django_db
def test_send_due_does_not_queue_a_delivery_twice(make_rule, redis_server):
    [delivery] = owed(make_rule())
    tasks.enqueue_due_deliveries()
    tasks.enqueue_due_deliveries()
    assert not delivery_queue.enqueue(delivery.pk)
    assert queued(redis_server) == named(delivery)


@pytest.mark.django_db
def test_a_lost_delivery_is_queued_again_after_a_time(make_rule, redis_server):
    [delivery] = owed(make_rule())
    tasks.enqueue_due_deliveries()
    redis_server.client().delete(QUEUE)
    tasks.enqueue_due_deliveries()
    assert queued(redis_server) == []
    long_ago = timezone.now() - delivery_queue.LOST_AFTER
    AlertDelivery.objects.update(queued_at=long_ago)
    tasks.enqueue_due_deliveries()
    assert queued(redis_server) == named(delivery)


@pytest.mark.django_db
def test_a_delivery_that_could_not_be_queued_is_queued_by_send_due(make_rule, redis_server):
    [delivery] = owed(make_rule())
    redis_server.kill()
    assert not delivery_queue.enqueue(delivery.pk)
    redis_server.start()
    tasks.enqueue_due_deliveries()
    assert queued(redis_server) == named(delivery)


@pytest.mark.django_db
def test_a_delivery_that_is_not_due_is_not_queued(make_rule, redis_server):
    [later] = owed(make_rule(), next_attempt_at=timezone.now() + timedelta(hours=1))
    tasks.enqueue_due_deliveries()
    assert not delivery_queue.enqueue(later.pk)
    assert queued(redis_server) == []


@pytest.mark.django_db
def test_few_deliveries_of_a_rule_are_in_progress_at_a_time(
    make_rule, webhook_server, redis_server
):
    first, second, third = owed(make_rule(webhook=webhook_server.url), 3)
    [other] = owed(make_rule("other"))
    for delivery in (first, second, third, other):
        delivery_queue.enqueue(delivery.pk)
    assert queued(redis_server) == named(first, second, other)
    tasks.deliver(first.pk)
    assert queued(redis_server) == named(first, second, other, third)


@pytest.mark.django_db
def test_many_deliveries_of_one_rule_do_not_delay_another_rule(make_rule, redis_server):
    many = owed(make_rule(), 50)
    [other] = owed(make_rule("other"))
    tasks.enqueue_due_deliveries()
    assert set(queued(redis_server)) == set(named(*many[: delivery_queue.IN_PROGRESS_MAX], other))


@pytest.mark.django_db(transaction=True)
def test_webhooks_that_do_not_answer_do_not_delay_others(make_rule, webhook_server, redis_server):
    with closing(socket.create_server(("127.0.0.1", 0), backlog=100)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        for number in range(3):
            owed(make_rule(f"silent {number}", webhook=url), 20)
        answers = make_rule("answers", webhook=webhook_server.url)
        theirs = owed(answers, 8)
        tasks.enqueue_due_deliveries()
        with worker("deliveries", AERIE_EGRESS_ALLOW="127.0.0.1"):
            wait_until(lambda: len(webhook_server.received) == len(theirs), "all arrived", 120)
            waiting = AlertDelivery.objects.filter(state="waiting").exclude(rule=answers)
            assert waiting.count() == 60, "no other webhook answered meanwhile"


@pytest.mark.django_db(transaction=True)
def test_an_attempt_whose_worker_is_killed_is_made_again(make_rule, webhook_server, redis_server):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        [delivery] = owed(make_rule(webhook=f"http://127.0.0.1:{silent.getsockname()[1]}/"))
        delivery_queue.enqueue(delivery.pk)
        with worker("deliveries", AERIE_EGRESS_ALLOW="127.0.0.1"):
            wait_until(lambda: AlertDelivery.objects.filter(attempts=1).exists(), "it began", 120)
    delivery.rule.set_webhook(webhook_server.url, "")
    delivery.rule.save()
    long_ago = timezone.now() - delivery_queue.LOST_AFTER
    AlertDelivery.objects.update(queued_at=long_ago, next_attempt_at=long_ago)
    tasks.enqueue_due_deliveries()
    with worker("deliveries", AERIE_EGRESS_ALLOW="127.0.0.1"):
        wait_until(lambda: webhook_server.received, "it arrived", 120)
        wait_until(lambda: AlertDelivery.objects.filter(state="delivered").exists(), "noted")

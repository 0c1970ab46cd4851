"""The description of webhooks in docs/operating.md matches the code."""

import re
import time
from pathlib import Path

import pytest

from monitoring.alerts import post_webhook, tasks
from monitoring.alerts.delivery_retries import WAITS_S
from monitoring.alerts.evaluate import evaluate
from monitoring.alerts.webhook_message import body_of
from monitoring.models import AlertDelivery
from tests.monitoring.tick_factory import make_tick

pytestmark = pytest.mark.django_db
OPERATING = Path(__file__).resolve().parents[3] / "docs" / "operating.md"


@pytest.fixture(scope="module")
def documented() -> str:
    text = OPERATING.read_text()
    return text[text.index("## Alerts and webhooks") : text.index("## Reports")]


@pytest.fixture
def messages(make_rule, redis_server, webhook_server):
    """What a webhook really gets when an alert fires and resolves."""
    make_rule(webhook=webhook_server.url, secret="s3cret", for_seconds=0)
    for number, lag in enumerate((500, 0), start=1):
        group = {"group": "g", "topic": "t", "partition": 0, "members": 1, "state": "Stable"}
        offsets = {"committed_offset": 0, "log_end_offset": lag}
        evaluate(
            make_tick(number, partitions=[{"topic": "t", "partition": 0}], groups=[group | offsets])
        )
    for delivery in AlertDelivery.objects.order_by("id"):
        tasks.deliver(delivery.pk)
    assert len(webhook_server.received) == 2
    return webhook_server.received


def test_the_example_accepts_what_was_sent_and_nothing_else(documented, messages, monkeypatch):
    example: dict = {}
    exec(re.search(r"```python\n(.*?)```", documented, re.S).group(1), example)
    is_genuine = example["is_genuine"]
    for message in messages:
        assert is_genuine(message.headers, message.body, "s3cret")
        assert not is_genuine(message.headers, message.body + b" ", "s3cret")
        assert not is_genuine(message.headers, message.body, "guessed")
        assert not is_genuine(message.headers | {"X-Aerie-Timestamp": "1"}, message.body, "s3cret")
        assert not is_genuine({}, message.body, "s3cret")
    later_s = time.time() + 301
    monkeypatch.setattr(time, "time", lambda: later_s)
    assert not is_genuine(messages[0].headers, messages[0].body, "s3cret")


def test_every_field_and_header_is_documented(documented, messages):
    rows = [line.split("|")[1] for line in documented.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    sent = AlertDelivery.objects.get(event="resolved")
    ours = {name for name in messages[0].headers if name.startswith("X-Aerie")}
    assert named == set(sent.payload) | ours
    assert messages[1].body == body_of(sent.payload)


def test_times_and_limits_are_as_documented(documented):
    assert WAITS_S == (10, 30, 120, 600, 1800, 3600)
    assert post_webhook.TIMEOUT_S == 10
    plain = " ".join(documented.split())
    assert "10 s, 30 s, 2 min, 10 min, 30 min and 1 h" in plain
    assert "within 10 seconds" in plain

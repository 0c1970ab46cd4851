import hmac
import json
from hashlib import sha256

from monitoring.alerts.webhook_message import body_of, example_payload, signature


def test_the_signature_covers_the_time_and_the_body():
    expected = hmac.new(b"key", b'1700000000.{"a":1}', sha256).hexdigest()
    assert signature("key", 1_700_000_000, b'{"a":1}') == f"sha256={expected}"
    assert signature("key", 1_700_000_001, b'{"a":1}') != f"sha256={expected}"


def test_the_body_is_the_same_for_every_attempt():
    assert body_of({"b": 1, "a": 2}) == body_of({"a": 2, "b": 1})


def test_a_test_message_has_the_rule_and_no_secret(make_rule):
    rule = make_rule(webhook="http://hooks.example/x?token=t0ken", secret="s3cret")
    told = example_payload(rule, now_ms=1_000_000)
    assert (told["event"], told["cluster"], told["rule"]["name"]) == ("test", "local", "late")
    assert "t0ken" not in json.dumps(told)
    assert "s3cret" not in json.dumps(told)

"""The JSON body and the signature of webhook messages. Pure.

    {"version": 1, "event": "fired" | "resolved" | "test", "cluster", "alert_id",
     "rule": {"id", "name", "kind"}, "group", "topic", "lag", "lag_now", "lag_peak",
     "ahead", "ahead_by", "lag_max", "for_seconds", "since_ms", "fired_at_ms", "resolved_at_ms",
     "reason"}

`alert_id` is the same when the alert fires and when it resolves (null in a test). `lag` is the lag
when the alert fired, `lag_now` the lag at the time of the message, `lag_peak` the highest lag in
between, `lag_max` the rule's threshold when the alert fired. In `lag_now`, `ahead` partitions count
as 0: their committed offsets are beyond the end offset, by `ahead_by` in total. null = unknown.
docs/operating.md describes the format for users.

`X-Aerie-Signature: sha256=<hex>` is the HMAC-SHA256 of `<X-Aerie-Timestamp>.<body>` with the rule's
secret. `X-Aerie-Delivery` is the same for all attempts of one message.
"""

import hmac
import json
from hashlib import sha256
from typing import Any

from monitoring.alerts.lag_condition import LagReading
from monitoring.alerts.models import Alert, AlertRule
from monitoring.error_reason import loads

_VERSION = 1


def alert_payload(alert: Alert, event: str, current: LagReading | None) -> dict[str, Any]:
    """The message about `alert`; `current` is the subject's current lag, None = unknown."""
    return _common(alert.rule, event) | {
        "alert_id": alert.pk,
        "group": alert.group,
        "topic": alert.topic,
        "lag": alert.lag,
        "lag_now": current.lag if current else None,
        "lag_peak": alert.lag_peak,
        "ahead": current.ahead if current else None,
        "ahead_by": current.ahead_by if current else None,
        "lag_max": alert.threshold,
        "since_ms": alert.since_ms,
        "fired_at_ms": alert.fired_at_ms,
        "resolved_at_ms": alert.resolved_at_ms,
        "reason": str(loads(alert.resolved_reason)),
    }


def example_payload(rule: AlertRule, now_ms: int) -> dict[str, Any]:
    """An example message of the rule, for the test button."""
    return _common(rule, "test") | {
        "alert_id": None,
        "group": rule.group_pattern,
        "topic": rule.topic_pattern,
        "lag": rule.threshold + 1,
        "lag_now": rule.threshold + 1,
        "lag_peak": rule.threshold + 1,
        "ahead": 0,
        "ahead_by": 0,
        "lag_max": rule.threshold,
        "since_ms": now_ms - rule.for_seconds * 1000,
        "fired_at_ms": now_ms,
        "resolved_at_ms": None,
        "reason": "",
    }


def _common(rule: AlertRule, event: str) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "event": event,
        "cluster": rule.cluster.slug,
        "rule": {"id": rule.pk, "name": rule.name, "kind": rule.kind},
        "for_seconds": rule.for_seconds,
    }


def body_of(payload: dict[str, Any]) -> bytes:
    """The body: the bytes that are sent and signed."""
    return json.dumps(payload, separators=(",", ":"), sort_keys=True).encode()


def signature(secret: str, timestamp_s: int, body: bytes) -> str:
    """The value of `X-Aerie-Signature`."""
    mac = hmac.new(secret.encode(), b"%d." % timestamp_s + body, sha256)
    return f"sha256={mac.hexdigest()}"

"""Database models: alert rules, alerts, and their deliveries to webhooks.

Rows are not written per tick, but only when an alert changes. The phase *pending* is stored in
Redis (monitoring/alerts/stored_pending_subjects.py), since it can change with every tick.
"""

from urllib.parse import urlsplit

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from monitoring.encryption import EncryptedField, SecretUnreadable, decrypt, encrypt


class AlertRule(models.Model):
    """A condition on the groups of a cluster, and the webhook that gets its alerts."""

    class Kind(models.TextChoices):
        CONSUMER_LAG = "consumer_lag", _("Consumer lag")

    cluster = models.ForeignKey("monitoring.Cluster", models.CASCADE, related_name="alert_rules")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=32, choices=Kind.choices, default=Kind.CONSUMER_LAG)
    # Shell-style patterns: `*` and `?`. An empty topic pattern means the group's total lag.
    group_pattern = models.CharField(max_length=255)
    topic_pattern = models.CharField(max_length=255, blank=True, default="")
    threshold = models.BigIntegerField(validators=[MinValueValidator(0)])
    for_seconds = models.PositiveIntegerField(default=60, validators=[MaxValueValidator(86400)])
    enabled = models.BooleanField(default=True)
    webhook_url = EncryptedField()
    webhook_secret = EncryptedField()
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="alert_rule_name_per_cluster")
        ]

    def __str__(self) -> str:
        return self.name

    def set_webhook(self, url: str, secret: str) -> None:
        """Set the webhook's URL and the key that signs its messages; both are stored encrypted."""
        self.webhook_url, self.webhook_secret = encrypt(url), encrypt(secret)

    def decrypt_webhook(self) -> tuple[str, str]:
        """(url, secret) decrypted, for deliveries only. Raises SecretUnreadable."""
        return decrypt(self.webhook_url), decrypt(self.webhook_secret)

    @property
    def webhook_fingerprint(self) -> str:
        """Changes when the URL or the secret changes, but reveals neither."""
        try:
            url, secret = self.decrypt_webhook()
        except SecretUnreadable:
            return "?"
        return salted_hmac("alerts.webhook", f"{url}\0{secret}").hexdigest()[:8] if url else ""

    @property
    def webhook_host(self) -> str:
        """The URL's host, the only part that may be shown. Empty without a webhook."""
        try:
            return urlsplit(decrypt(self.webhook_url)).hostname or ""
        except (SecretUnreadable, ValueError):
            return "?"


class Alert(models.Model):
    """An alert of a rule for one subject, from `fired_at_ms` until `resolved_at_ms`."""

    class State(models.TextChoices):
        FIRING = "firing", _("Firing")
        RESOLVED = "resolved", _("Resolved")

    cluster = models.ForeignKey("monitoring.Cluster", models.CASCADE, related_name="alerts")
    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="alerts")
    group = models.CharField(max_length=255)
    topic = models.CharField(max_length=255, blank=True, default="")  # empty = all its topics
    state = models.CharField(max_length=16, choices=State.choices, default=State.FIRING)
    since_ms = models.BigIntegerField()  # when the lag went over the threshold
    fired_at_ms = models.BigIntegerField()
    fired_tick = models.BigIntegerField()
    resolved_at_ms = models.BigIntegerField(null=True)
    # A Reason as monitoring.error_reason.dumps stores it; empty = the lag fell.
    resolved_reason = models.TextField(blank=True, default="")
    lag = models.BigIntegerField()  # when it fired
    lag_peak = models.BigIntegerField(null=True)  # the highest while it fired; null = unknown
    threshold = models.BigIntegerField()  # the rule's threshold when it fired
    # Since when its lag is unknown; null = known.
    unknown_since_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["-fired_at_ms", "-id"]
        indexes = [models.Index(fields=["cluster", "state", "-fired_at_ms"])]
        constraints = [
            # Concurrent or repeated evaluations cannot create a second alert.
            models.UniqueConstraint(
                fields=["rule", "group", "topic"],
                condition=Q(state="firing"),
                name="alert_fires_once_per_subject",
            )
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}"

    @property
    def subject(self) -> str:
        return f"{self.group} · {self.topic}" if self.topic else self.group


class AlertDelivery(models.Model):
    """One message to one webhook: its result, and when it is tried again."""

    class Event(models.TextChoices):
        FIRED = "fired", _("Fired")
        RESOLVED = "resolved", _("Resolved")
        TEST = "test", _("Test")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Failed")

    rule = models.ForeignKey(AlertRule, models.CASCADE, related_name="deliveries")
    alert = models.ForeignKey(Alert, models.CASCADE, null=True, related_name="deliveries")
    event = models.CharField(max_length=16, choices=Event.choices)
    payload = models.JSONField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    status_code = models.PositiveSmallIntegerField(null=True)  # of the last answer
    # Why the last attempt failed, a Reason as monitoring.error_reason.dumps stores it; "" = it did
    # not.
    error = models.TextField(blank=True, default="")
    took_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    # While an attempt runs, when another worker may take it over.
    next_attempt_at = models.DateTimeField(default=timezone.now)
    # When its Celery task was queued or began; null = it has none.
    queued_at = models.DateTimeField(null=True)
    attempted_at = models.DateTimeField(null=True)  # when the last attempt began
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["state", "next_attempt_at"])]

    def __str__(self) -> str:
        return f"{self.event} · {self.rule}"

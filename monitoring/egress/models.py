"""The targets without a public address that admins allow for outgoing requests.

The targets of the setting `AERIE_EGRESS_ALLOW` are allowed too, for every purpose (url_checks.py).
"""

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.egress.addresses import AllowedTarget

TARGETS_MAX = 200  # each check compares with all of them


class EgressTarget(models.Model):
    """A host that requests of one purpose may reach although its address is not public."""

    class Purpose(models.TextChoices):
        ANY = "any", _("All requests")
        WEBHOOK = "webhook", _("Webhooks")
        TOKEN = "token", _("Token endpoints (OAUTHBEARER)")
        REGISTRY = "registry", _("Schema registries")
        ADMIN_PORT = "admin_port", _("Admin ports of brokerd")
        METRICS = "metrics", _("Metrics of brokers")

    # A host name, an address or a network, as addresses.normal_form writes it.
    host = models.CharField(max_length=253)
    # 0 = every port.
    port = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(65535)])
    purpose = models.CharField(max_length=16, choices=Purpose.choices, default=Purpose.WEBHOOK)
    note = models.CharField(max_length=200, blank=True, default="")
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["host", "port", "purpose"]
        constraints = [
            models.UniqueConstraint(
                fields=["host", "port", "purpose"],
                name="egress_target_once",
                violation_error_message=_("This target is allowed already."),
            )
        ]

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and "/" not in self.host else self.host
        return f"{host}:{self.port}" if self.port else host


def allowed_for(purpose: str) -> tuple[AllowedTarget, ...]:
    """The targets in the database that requests of this purpose may reach."""
    purposes = (purpose, EgressTarget.Purpose.ANY)
    rows = EgressTarget.objects.filter(purpose__in=purposes).order_by("host", "port")
    return tuple(AllowedTarget(*row) for row in rows.values_list("host", "port").distinct())

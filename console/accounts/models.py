"""Who has which role where. The user itself is Django's."""

from django.conf import settings
from django.db import models

from console.accounts.rights import ROLES
from monitoring.scope import ANY


def every_name() -> list[str]:
    return [ANY]


class RoleGrant(models.Model):
    """A role for one cluster, or for every cluster where `cluster` is empty.

    The cluster is named by its slug, not by a foreign key: a grant may be given before the
    cluster is added. Removing a cluster ends its grants: they are not for another of its name.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="role_grants"
    )
    cluster = models.CharField(max_length=64, blank=True, default="")
    role = models.CharField(max_length=16, choices=[(role, role) for role in ROLES if role])
    # Patterns of names that it is for (monitoring/scope.py).
    topics = models.JSONField(default=every_name)
    groups = models.JSONField(default=every_name)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "cluster"], name="one_role_per_cluster"),
        ]

    def __str__(self) -> str:
        text = f"{self.user} is {self.role} of {self.cluster or 'every cluster'}"
        if self.topics != [ANY] or self.groups != [ANY]:
            text += f", topics {', '.join(self.topics)}, groups {', '.join(self.groups)}"
        return text

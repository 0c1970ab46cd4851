"""The roles of users on clusters. The user model is Django's."""

from django.conf import settings
from django.db import models

from console.accounts.rights import GRANTED_ROLES
from monitoring.scope import ANY


def every_name() -> list[str]:
    return [ANY]


class RoleGrant(models.Model):
    """A user's role on one cluster, or on all clusters if `cluster` is empty.

    `cluster` is a slug, not a foreign key, so that a grant can be made before the cluster is added.
    When a cluster is removed, its grants are deleted, so that they do not apply to a new cluster
    with the same slug.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="role_grants"
    )
    cluster = models.CharField(max_length=64, blank=True, default="")
    role = models.CharField(max_length=16, choices=[(role, role) for role in GRANTED_ROLES])
    # Patterns of the names to which the role applies (monitoring/scope.py).
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

"""The clusters that a user may see."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from console.accounts.rights import may
from monitoring.models import Cluster


def visible_clusters(user: AbstractBaseUser | AnonymousUser) -> list[Cluster]:
    """Sorted by slug."""
    return [each for each in Cluster.objects.all() if may(user, "cluster.view", each)]

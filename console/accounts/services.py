"""Operations on accounts: create the first admin, grant and revoke roles."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from console.accounts.models import RoleGrant
from console.accounts.rights import ADMIN, GRANTED_ROLES, clear_cached_grants


def grant(
    user: Any,
    role: str,
    cluster: str = "",
    topics: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> RoleGrant:
    """Grant `user` a role on a cluster (slug; empty = all clusters); replaces the previous role.

    `topics` and `groups` are the patterns of the grant; None = those of the previous role, or all
    names without one.
    """
    if role not in GRANTED_ROLES:
        raise ValueError(f"{role!r} is no role: use one of {', '.join(GRANTED_ROLES)}")
    patterns = {"topics": topics, "groups": groups}
    changed = {name: list(found) for name, found in patterns.items() if found is not None}
    grant, _ = RoleGrant.objects.update_or_create(
        user=user, cluster=cluster, defaults={"role": role, **changed}
    )
    clear_cached_grants(user)
    return grant


def revoke_all_grants(cluster: str) -> dict[str, str]:
    """Delete the grants for this cluster; returns user name → role. Those for all clusters stay,
    also if `cluster` is empty."""
    grants = RoleGrant.objects.filter(cluster=cluster).exclude(cluster="")
    revoked = dict(grants.values_list("user__username", "role"))
    grants.delete()
    return revoked


@transaction.atomic
def ensure_admin(password: str, username: str = "admin") -> bool:
    """Make sure that an admin `username` exists. Returns True if it was created now.

    The password is set for a new account, and later only if it differs from the given one, so that
    a restart signs nobody out.
    """
    user, created = get_user_model().objects.select_for_update().get_or_create(username=username)
    if created or (password and not user.check_password(password)):
        user.set_password(password)
        user.save()
    grant(user, ADMIN)
    return created

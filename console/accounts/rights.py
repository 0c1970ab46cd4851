"""`may(user, verb, cluster, resource)`: the one question that decides every right.

Pages, WebSocket, tasks and later the API ask it; nothing else compares roles. The rules are
three tables: VERBS gives the least role for a verb, HIDDEN the topics that only admins know of,
whatever the verb, CLOSED those that anyone may see and only admins may read. `Rights` is what one
user may do on one cluster: small, hashable, without a database behind it, so that a fragment can
be rendered once for each distinct set of rights.

Roles come from grants (console/accounts/models.py): one for a named cluster beats the one for
every cluster. A superuser is an admin everywhere.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from monitoring.hidden import ADMIN_ONLY_TOPICS

NOBODY, VIEWER, OPERATOR, ADMIN = "", "viewer", "operator", "admin"
ROLES = (NOBODY, VIEWER, OPERATOR, ADMIN)  # each may do what those before it may

VERBS = {
    "cluster.view": VIEWER,
    "broker.view": VIEWER,
    "topic.view": VIEWER,
    "group.view": VIEWER,
    "segment.view": VIEWER,
    "record.read": VIEWER,
    "record.unmask": ADMIN,
    "masking.edit": ADMIN,
    "report.view": VIEWER,
    "alert.view": VIEWER,
    "plan.view": OPERATOR,
    "report.run": OPERATOR,
    "alert.edit": OPERATOR,
    "topic.create": OPERATOR,
    "topic.alter": OPERATOR,
    "topic.delete": ADMIN,
    "audit.view": ADMIN,
    "cluster.edit": ADMIN,
    "ui.view": VIEWER,
}

# Topics whose records name what not every reader may know of: the cluster's own (groups, their
# offsets of any topic), and the brokers' events, which tell of each partition by name.
ADMIN_ONLY_RECORDS = ("__", "brokerd.events")


@dataclass(frozen=True, slots=True)
class Rights:
    """What a user may do on one cluster (or, with `cluster` empty, outside any cluster)."""

    cluster: str
    role: str

    def may(self, verb: str, resource: str | None = None) -> bool:
        """Whether this role may do `verb` to `resource` (a topic or group name).

        An unknown verb is a mistake in the program: KeyError.
        """
        least = VERBS[verb]
        if resource is not None and (is_hidden(verb, resource) or is_closed(verb, resource)):
            least = ADMIN
        return self.role != NOBODY and ROLES.index(self.role) >= ROLES.index(least)

    @property
    def may_change_topics(self) -> bool:
        """For templates, which cannot pass a verb."""
        return self.may("topic.create")

    @property
    def hidden_prefixes(self) -> list[str]:
        """The beginnings of topic names that are not there for this role; mostly none or all."""
        return [prefix for prefix in ADMIN_ONLY_TOPICS if not self.may("topic.view", prefix)]


def is_hidden(verb: str, resource: str) -> bool:
    """Whether only admins may know of this resource; groups and alerts have no such names."""
    if verb == "topic.create":
        # Brokers refuse names that differ only in "." and "_" from one that is there, by name.
        resource = resource.replace("_", ".")
    about_topic = verb.partition(".")[0] in ("topic", "record", "segment")
    return about_topic and resource.startswith(ADMIN_ONLY_TOPICS)


def is_closed(verb: str, resource: str) -> bool:
    """Whether only admins may read this topic's records; its figures are for everyone."""
    return verb.partition(".")[0] == "record" and resource.startswith(ADMIN_ONLY_RECORDS)


def rights_of(user: AbstractBaseUser | AnonymousUser, cluster: Any = None) -> Rights:
    """The rights of a user on a cluster (a Cluster, a slug, or None for none in particular)."""
    slug = cluster if isinstance(cluster, str) else getattr(cluster, "slug", "")
    if not user.is_authenticated or not user.is_active:
        return Rights(slug, NOBODY)
    if getattr(user, "is_superuser", False):
        return Rights(slug, ADMIN)
    grants = _grants(user)
    if slug:
        return Rights(slug, grants.get(slug, grants.get("", NOBODY)))
    # Outside any cluster: what is shown there belongs to all of them, so only a grant for all
    # gives more than looking.
    return Rights("", grants.get("", VIEWER if any(grants.values()) else NOBODY))


def _grants(user: Any) -> dict[str, str]:
    """The user's grants, cluster slug → role; read once for a user object (hence per request)."""
    if not hasattr(user, "_aerie_grants"):
        user._aerie_grants = dict(user.role_grants.values_list("cluster", "role"))
    return dict(user._aerie_grants)


def may(
    user: AbstractBaseUser | AnonymousUser,
    verb: str,
    cluster: Any = None,
    resource: str | None = None,
) -> bool:
    """Whether `user` may do `verb` on `cluster` to `resource`: the only such decision."""
    return rights_of(user, cluster).may(verb, resource)

"""`may` and `Rights.may`: all that decides about rights.

Pages, WebSockets and tasks call them; nothing else compares roles or names. VERBS gives the lowest
role for a verb. The scope (monitoring/scope.py) says which topics and groups of the cluster exist
for the user, whatever the verb. ADMIN_ONLY_RECORDS are topics that anyone may see, but only admins
may read. `Rights` is what one user may do on one cluster: small, hashable and free of database
queries, so that a fragment can be rendered once for each distinct set of rights.

Role and scope come from grants (console/accounts/models.py): one for a named cluster takes
precedence over the one for every cluster. A superuser is an admin everywhere. The console's own
topics (monitoring/console_topics.py) are in the scope of admins alone.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from monitoring import console_topics
from monitoring.scope import ANY, EVERYTHING, NOTHING, Scope, matches

NOBODY, VIEWER, OPERATOR, ADMIN = "", "viewer", "operator", "admin"
ROLES = (NOBODY, VIEWER, OPERATOR, ADMIN)  # each has the rights of the previous ones
GRANTED_ROLES = ROLES[1:]

VERBS = {
    "cluster.view": VIEWER,
    "broker.view": VIEWER,
    "topic.view": VIEWER,
    "group.view": VIEWER,
    "segment.view": VIEWER,
    "record.read": VIEWER,
    "record.write": OPERATOR,
    "record.unmask": ADMIN,
    "record.unmask_for_operators": OPERATOR,  # what rules mask for viewers only
    "masking.edit": ADMIN,
    "report.view": VIEWER,
    "alert.view": VIEWER,
    "plan.view": OPERATOR,
    "report.run": OPERATOR,
    "alert.edit": OPERATOR,
    "broker.configure": ADMIN,
    "quota.edit": ADMIN,
    "topic.create": OPERATOR,
    "topic.alter": OPERATOR,
    "topic.configure": OPERATOR,
    "topic.purge": ADMIN,
    "topic.reassign": ADMIN,
    "topic.delete": ADMIN,
    "group.alter": OPERATOR,
    "group.delete": ADMIN,
    "schema.view": VIEWER,
    "schema.edit": OPERATOR,
    "schema.delete": ADMIN,
    "pipeline.view": OPERATOR,
    "pipeline.backfill": ADMIN,
    "audit.view": ADMIN,
    "cluster.edit": ADMIN,
    "egress.edit": ADMIN,
    "query.share": OPERATOR,
    "query.moderate": ADMIN,  # shared queries of others
    "ui.view": VIEWER,
}

# First part of a verb → kind of its resource; other verbs have no resource.
TOPIC, GROUP, SUBJECT = "topic", "group", "subject"
RESOURCES = {
    "topic": TOPIC, "record": TOPIC, "segment": TOPIC, "group": GROUP, "schema": SUBJECT,
}  # fmt: skip

# Prefixes of topics whose records contain names of any topic or group: internal topics, and the
# events of brokers.
ADMIN_ONLY_RECORDS = ("__", "brokerd.events")


@dataclass(frozen=True, slots=True)
class Rights:
    """A user's rights on one cluster (a slug), or outside of clusters if `cluster` is empty."""

    cluster: str
    role: str
    scope: Scope = EVERYTHING

    def may(self, verb: str, resource: str | None = None) -> bool:
        """Whether the user may do `verb` to `resource` (the name of a topic, group or subject).

        Raises KeyError for an unknown verb.
        """
        lowest_role = VERBS[verb]
        if resource is not None and not self.shows(verb, resource):
            return False
        if resource is not None and only_admins_read(verb, resource):
            lowest_role = ADMIN
            if self.scope != EVERYTHING:  # those records contain all names of topics and groups
                return False
        return self.role != NOBODY and ROLES.index(self.role) >= ROLES.index(lowest_role)

    def shows(self, verb: str, resource: str) -> bool:
        """Whether the user may see the resource; if not, the response is 404."""
        kind = RESOURCES.get(verb.partition(".")[0])
        if kind == GROUP:
            return self.scope.shows_group(resource)
        if kind == SUBJECT:
            return self.scope.shows_subject(resource)
        if verb == "topic.create":
            return self.scope.shows_topic(resource) and not self._collides(resource)
        return kind is None or self.scope.shows_topic(resource)

    def _collides(self, topic: str) -> bool:
        """Whether the name collides with a hidden topic. Brokers refuse names that differ only in
        "." and "_"; their error would reveal the hidden topic."""
        colliding = (hidden.replace(".", "_") for hidden in self.scope.hidden_topics)
        return topic.replace(".", "_") in colliding

    @property
    def may_create_topics(self) -> bool:
        """Whether the user may create topics: `may` for templates, which cannot pass arguments."""
        return self.may("topic.create")


def only_admins_read(verb: str, resource: str) -> bool:
    """Whether only admins may read this topic's records; all users see its figures."""
    return verb.partition(".")[0] == "record" and resource.startswith(ADMIN_ONLY_RECORDS)


class Grant(NamedTuple):
    """A role, with the patterns of the topics and groups to which it applies."""

    role: str
    topics: tuple[str, ...]
    groups: tuple[str, ...]

    def scope(self, hidden: frozenset[str]) -> Scope:
        """The scope of the grant, if these topics of the cluster are hidden from the user."""
        hidden_here = frozenset(name for name in hidden if matches(self.topics, name))
        return Scope(self.topics, self.groups, hidden_here)


def rights_of(user: AbstractBaseUser | AnonymousUser, cluster: Any = None) -> Rights:
    """The rights of a user on a cluster (a Cluster or a slug), or outside of clusters."""
    slug = cluster if isinstance(cluster, str) else getattr(cluster, "slug", "")
    if not user.is_authenticated or not user.is_active:
        return Rights(slug, NOBODY, NOTHING)
    if getattr(user, "is_superuser", False):
        return Rights(slug, ADMIN)
    grants = _grants(user)
    grant = grants.get(slug) or grants.get("")
    if grant is not None:
        hidden = _hidden(user).get(slug, frozenset()) if grant.role != ADMIN else frozenset()
        return Rights(slug, grant.role, grant.scope(hidden))
    # Outside of clusters a grant for one cluster gives only the viewer role.
    return Rights(slug, VIEWER if grants and not slug else NOBODY, NOTHING)


def granted_clusters(user: Any) -> list[str]:
    """The slugs of the clusters for which the user has a grant."""
    return [] if getattr(user, "is_superuser", False) else sorted(filter(None, _grants(user)))


def clear_cached_grants(user: Any) -> None:
    """Clear the cached grants of this user object, after a change."""
    for name in ("_aerie_grants", "_aerie_hidden"):
        user.__dict__.pop(name, None)


def _grants(user: Any) -> dict[str, Grant]:
    """The user's grants by cluster slug; cached in the user object, so for one request."""
    if not hasattr(user, "_aerie_grants"):
        rows = user.role_grants.values_list("cluster", "role", "topics", "groups")
        user._aerie_grants = {
            cluster: Grant(role, _patterns(topics), _patterns(groups))
            for cluster, role, topics, groups in rows
        }
    found: dict[str, Grant] = user._aerie_grants
    return found


def _patterns(stored: list[str]) -> tuple[str, ...]:
    """The patterns in a normal form, since scopes are cache keys."""
    return (ANY,) if ANY in stored else tuple(sorted(set(stored)))


def _hidden(user: Any) -> dict[str, frozenset[str]]:
    """Cluster slug → topics that only admins see; cached in the user object."""
    if not hasattr(user, "_aerie_hidden"):
        user._aerie_hidden = console_topics.hidden_by_cluster()
    found: dict[str, frozenset[str]] = user._aerie_hidden
    return found


def may(
    user: AbstractBaseUser | AnonymousUser,
    verb: str,
    cluster: Any = None,
    resource: str | None = None,
) -> bool:
    """Whether `user` may do `verb` on `cluster` to `resource`."""
    return rights_of(user, cluster).may(verb, resource)

"""Which entries of the audit log a user may see, as database filters."""

from django.db.models import Q, QuerySet

from console.accounts.principal import Principal
from console.accounts.rights import granted_clusters
from console.audit.models import AuditEntry
from monitoring.scope import EVERYTHING, Scope
from monitoring.scope_as_sql import shows_group, shows_topic


def visible_to(principal: Principal) -> QuerySet[AuditEntry]:
    """The entries that contain only what the principal may see."""
    scope = principal.rights().scope
    grants = Q(action="account.set")  # their patterns may name any topic or group
    # Entries without a cluster, and those of clusters with a grant of their own, which takes
    # precedence over the grant for all clusters.
    in_own_clusters = Q(cluster="") if scope == EVERYTHING else Q(cluster="") & ~grants
    other_clusters = ~Q(cluster="")
    for slug in granted_clusters(principal.user):
        in_own_clusters |= Q(cluster=slug) & entries_in_scope(principal.rights(slug).scope)
        other_clusters &= ~Q(cluster=slug)
    return AuditEntry.objects.filter(in_own_clusters | (other_clusters & entries_in_scope(scope)))


def of_cluster(slug: str, scope: Scope) -> QuerySet[AuditEntry]:
    """The entries of a cluster within a scope."""
    return AuditEntry.objects.filter(entries_in_scope(scope), cluster=slug)


def entries_in_scope(scope: Scope) -> Q:
    """Selects entries within a scope: about topics and groups that it shows, and entries that may
    name any topic or group (alert rules, saved queries, schemas, changes of several topics) only if
    it shows everything."""
    if scope == EVERYTHING:
        return Q()
    about_topic = Q(action__regex=r"^(topic|record|masking)\.")
    may_name_any = Q(action__regex=r"^(alert|query|topics|schema)\.") | Q(action="account.set")
    about_group = Q(action__startswith="group.")
    others = ~about_topic & ~about_group & ~may_name_any
    topics = about_topic & shows_topic(scope, "resource")
    groups = about_group & shows_group(scope, "resource")
    return others | topics | groups

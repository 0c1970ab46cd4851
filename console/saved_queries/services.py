"""Saves, shares, renames and deletes queries, and finds those that a user may see.

A query may name any topic or group. So a shared one is shown only to users whose scope has all
names, and not if it contains the name of a topic that is hidden from them.
"""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import Rights
from console.audit.write_entry import record_by
from console.saved_queries.models import NAME_LENGTH_MAX, QUERY_LENGTH_MAX, SavedQuery
from console.saved_queries.pages import PAGES, decoded_values, saved_part
from monitoring.models import Cluster
from monitoring.scope import ANY
from monitoring.topic_names import is_topic_name

COUNT_MAX = 100  # of one user on one cluster


class SavedQueryRefused(Exception):
    """The query cannot be saved; the message says why, for the user."""


def may_use(rights: Rights, page: str, topic: str) -> bool:
    """Whether these rights show the page."""
    found = PAGES.get(page)
    if found is None or found.is_of_topic != bool(topic):
        return False
    if topic and not is_topic_name(topic):
        return False
    return rights.may(found.verb, topic or None)


def visible(principal: Principal, cluster: Cluster, page: str, topic: str) -> list[SavedQuery]:
    """The principal's queries of a page, and those that are shared with them, by name."""
    rights = principal.rights(cluster)
    if not may_use(rights, page, topic):
        return []
    rows = SavedQuery.objects.filter(
        Q(owner=principal.user) | Q(is_shared=True), cluster=cluster, page=page, topic=topic
    ).select_related("owner")
    return [row for row in rows if _may_see(principal, rights, row)]


def find_changeable(principal: Principal, cluster: Cluster, query_id: int) -> SavedQuery | None:
    """The query, if the principal may change it: their own, for admins also a shared one."""
    row = SavedQuery.objects.filter(cluster=cluster, pk=query_id).select_related("owner").first()
    return row if row is not None and may_change(principal, cluster, row) else None


def may_change(principal: Principal, cluster: Cluster, row: SavedQuery) -> bool:
    rights = principal.rights(cluster)
    if not _may_see(principal, rights, row) or not may_use(rights, row.page, row.topic):
        return False
    return row.owner_id == principal.user.pk or rights.may("query.moderate")


def save(
    principal: Principal,
    cluster: Cluster,
    *,
    page: str,
    topic: str,
    query: str,
    name: str,
    is_shared: bool,
) -> SavedQuery:
    """Save a query. Raises SavedQueryRefused."""
    rights = principal.rights(cluster)
    if not may_use(rights, page, topic):
        raise SavedQueryRefused(_("Queries of this page cannot be saved."))
    saved = _checked_query(query)
    own = SavedQuery.objects.filter(cluster=cluster, owner=principal.user)
    if own.count() >= COUNT_MAX:
        text = _("You have %(n)d saved queries on this cluster: delete one to save another.")
        raise SavedQueryRefused(text % {"n": COUNT_MAX})
    row = SavedQuery(
        cluster=cluster,
        owner=principal.user,
        page=page,
        topic=topic,
        name=_checked_name(name),
        query=saved,
        is_shared=_checked_share(rights, is_shared),
    )
    _write(principal, row, "query.save", before={})
    return row


def change(
    principal: Principal, cluster: Cluster, row: SavedQuery, *, name: str, is_shared: bool
) -> None:
    """Rename a query, share it or end that. Raises SavedQueryRefused."""
    before = _audit_fields(row)
    if is_shared != row.is_shared:
        row.is_shared = _checked_share(principal.rights(cluster), is_shared)
    row.name = _checked_name(name)
    if _audit_fields(row) != before:
        _write(principal, row, "query.change", before)


def delete(principal: Principal, cluster: Cluster, row: SavedQuery) -> None:
    with transaction.atomic():
        record_by(principal, "query.delete", cluster.slug, row.name, before=_audit_fields(row))
        row.delete()


def _write(principal: Principal, row: SavedQuery, action: str, before: dict[str, Any]) -> None:
    try:
        with transaction.atomic():
            row.save()
            record_by(principal, action, row.cluster.slug, row.name, before, _audit_fields(row))
    except IntegrityError as error:
        text = _("There is a saved query “%(name)s” already: choose another name.")
        raise SavedQueryRefused(text % {"name": row.name}) from error


def _audit_fields(row: SavedQuery) -> dict[str, Any]:
    """The fields of a query in the audit log."""
    fields = {"page": row.page, "topic": row.topic, "name": row.name, "query": row.query}
    return fields | {"shared": row.is_shared, "owner": row.owner.get_username()}


def _may_see(principal: Principal, rights: Rights, row: SavedQuery) -> bool:
    if row.owner_id == principal.user.pk:
        return True
    scope = rights.scope
    if not row.is_shared or ANY not in scope.topics or ANY not in scope.groups:
        return False
    text = f"{row.name}\n{decoded_values(row.query)}"
    return not any(hidden in text for hidden in scope.hidden_topics)


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise SavedQueryRefused(_("Enter a name of printable letters."))
    if len(name) > NAME_LENGTH_MAX:
        text = _("The name has %(n)d letters: use at most %(max)d.")
        raise SavedQueryRefused(text % {"n": len(name), "max": NAME_LENGTH_MAX})
    return name


def _checked_query(query: str) -> str:
    saved = saved_part(query)
    if saved is None:
        text = _("The query is longer than %(max)d letters: remove some of its filters.")
        raise SavedQueryRefused(text % {"max": QUERY_LENGTH_MAX})
    if not saved:
        raise SavedQueryRefused(_("The page has no filter, order or columns to save: choose some."))
    return saved


def _checked_share(rights: Rights, is_shared: bool) -> bool:
    if is_shared and not rights.may("query.share"):
        raise SavedQueryRefused(_("Only operators and admins share queries."))
    return is_shared

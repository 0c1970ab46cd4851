"""A scope as a database condition: the rows about topics and groups that it shows.

Names are compared case-sensitively, as in Scope, in every database. (SQLite's LIKE is not
case-sensitive.)
"""

from collections.abc import Iterable

from django.db.models import Q, Value
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from monitoring.scope import ANY, Scope


def shows_topic(scope: Scope, field: str) -> Q:
    """The rows whose `field` is a topic that the scope shows."""
    return _matches(scope.topics, field) & ~Q((f"{field}__in", sorted(scope.hidden_topics)))


def shows_group(scope: Scope, field: str) -> Q:
    """The rows whose `field` is a group that the scope shows."""
    return _matches(scope.groups, field)


def _matches(patterns: Iterable[str], field: str) -> Q:
    condition = Q(pk__in=[])
    for pattern in patterns:
        if pattern == ANY:
            return Q()
        if pattern.endswith(ANY):
            prefix = pattern.removesuffix(ANY)
            condition |= Q(Exact(Left(field, len(prefix)), Value(prefix)))
        else:
            condition |= Q((field, pattern))
    return condition

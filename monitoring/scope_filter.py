"""A scope as a condition of the database: the rows about topics and groups that it shows.

Names are compared as Scope compares them, upper and lower case apart, in every database; LIKE of
SQLite would not.
"""

from collections.abc import Iterable

from django.db.models import Q, Value
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from monitoring.scope import ANY, Scope


def shows_topic(scope: Scope, field: str) -> Q:
    """The rows in whose field is a topic that the scope shows."""
    return _matches(scope.topics, field) & ~Q((f"{field}__in", sorted(scope.hidden_topics)))


def shows_group(scope: Scope, field: str) -> Q:
    """The rows in whose field is a group that the scope shows."""
    return _matches(scope.groups, field)


def _matches(patterns: Iterable[str], field: str) -> Q:
    found = Q(pk__in=[])
    for pattern in patterns:
        if pattern == ANY:
            return Q()
        if pattern.endswith(ANY):
            beginning = pattern.removesuffix(ANY)
            found |= Q(Exact(Left(field, len(beginning)), Value(beginning)))
        else:
            found |= Q((field, pattern))
    return found

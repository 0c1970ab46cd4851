"""The rows of the page of quotas: entities and values as texts. Pure."""

from django.http import QueryDict

from console.quotas.entities import names_of, title_of
from monitoring.gateway.wire.quotas import Quota


def quota_row(quota: Quota) -> dict[str, str]:
    """`entity` and `quotas` as they are shown; `query` opens the entity's form."""
    query = QueryDict(mutable=True)
    query.update(names_of(quota.entity))
    return {
        "entity": title_of(quota.entity),
        "quotas": ", ".join(
            f"{key} {number_text(value)}" for key, value in sorted(quota.values.items())
        ),
        "query": query.urlencode(),
    }


def number_text(value: float) -> str:
    """A quota in full: 1048576.0 → 1048576."""
    return f"{value:.15g}" if value != int(value) else str(int(value))

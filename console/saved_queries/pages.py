"""The pages whose queries can be saved, and what of a query string is saved. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from console.saved_queries.models import QUERY_LENGTH_MAX

_FIELDS_MAX = 50
# Parameters that do not select what is shown.
_NOT_SAVED = frozenset({"page", "format", "csrfmiddlewaretoken"})


@dataclass(frozen=True, slots=True)
class QueryPage:
    """`verb`: the right to see the page. `is_of_topic`: there is one for each topic."""

    verb: str
    is_of_topic: bool = False


# The names of the pages' URLs.
PAGES: Mapping[str, QueryPage] = {
    "topics": QueryPage("topic.view"),
    "groups": QueryPage("group.view"),
    "alert-rules": QueryPage("alert.view"),
    "alert-deliveries": QueryPage("alert.view"),
    "reports": QueryPage("report.view"),
    "messages-search": QueryPage("record.read", is_of_topic=True),
}


def saved_part(query: str) -> str | None:
    """The parameters to save of a query string; None if it is too long or invalid."""
    if len(query) > QUERY_LENGTH_MAX * 2:
        return None
    try:
        pairs = parse_qsl(query.removeprefix("?"), max_num_fields=_FIELDS_MAX)
    except ValueError:
        return None
    saved = urlencode([(key, value) for key, value in pairs if key not in _NOT_SAVED])
    return saved if len(saved) <= QUERY_LENGTH_MAX else None


def decoded_values(query: str) -> str:
    """The decoded values of a query string, one per line."""
    return "\n".join(value for _, value in parse_qsl(query, max_num_fields=_FIELDS_MAX))

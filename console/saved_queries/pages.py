"""The pages whose queries can be saved, and what of a query string is saved. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from console.saved_queries.models import QUERY_LENGTH_MAX

_FIELDS_MAX = 50
_NOT_SAVED = frozenset(
    {"page", "format", "csrfmiddlewaretoken"}
)  # they do not select what is shown


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
    """The query string without what is not saved; None if it is too long or no query string."""
    if len(query) > QUERY_LENGTH_MAX * 2:
        return None
    try:
        pairs = parse_qsl(query.removeprefix("?"), max_num_fields=_FIELDS_MAX)
    except ValueError:
        return None
    saved = urlencode([(key, value) for key, value in pairs if key not in _NOT_SAVED])
    return saved if len(saved) <= QUERY_LENGTH_MAX else None


def values(query: str) -> str:
    """All values of a query string, decoded, as one text."""
    return "\n".join(value for _, value in parse_qsl(query, max_num_fields=_FIELDS_MAX))

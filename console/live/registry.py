"""The registry of live fragments; apps register theirs in `AppConfig.ready()`.

The parameter `show` of a socket's URL is a `FragmentKey` as text: `topics?sort=-rate&page=2`,
`group:NAME`, `topic:NAME?page=3`. It contains only the parameters of the page's query that the
fragment reads, so that browsers with the same content share one rendering.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from console.accounts.rights import Rights
from console.ui.links import URL_LENGTH_MAX
from monitoring.models import Cluster

VALUE_LENGTH_MAX = 200  # of a query parameter

# Arguments: cluster, the user's rights, the name of the topic, group or broker, the query. The name
# is "" for a fragment that shows no single one: such functions call the argument `_name`.
# Returns None if there is nothing to show.
ContextBuilder = Callable[[Cluster, Rights, str, Mapping[str, str]], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A live fragment: a template and the function that makes its context.

    The root elements of the template have the ids of the elements that they replace.

    Attributes:
        verb: the right that is needed to see it.
        params: the names of the query parameters that `build_context` reads.
        shows_alerts: whether it also changes when an alert changes.
    """

    verb: str
    template: str
    build_context: ContextBuilder
    params: tuple[str, ...] = ()
    shows_alerts: bool = False


@dataclass(frozen=True, slots=True)
class FragmentKey:
    """A fragment, the topic, group or broker that it shows (or ""), and the query parameters."""

    fragment_name: str
    name: str = ""
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        name = f":{quote(self.name, safe='')}" if self.name else ""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{self.fragment_name}{name}{query}"

    @property
    def fragment(self) -> Fragment:
        return _fragments[self.fragment_name]

    def make_context(self, cluster: Cluster, rights: Rights) -> dict[str, Any] | None:
        """The template's context; None if these rights do not allow it."""
        if not rights.may(self.fragment.verb):
            return None
        return self.fragment.build_context(cluster, rights, self.name, dict(self.query))


_fragments: dict[str, Fragment] = {}


def register(name: str, fragment: Fragment) -> None:
    """Register a fragment."""
    _fragments[name] = fragment


def fragment_key(
    fragment_name: str, name: str = "", query: Mapping[str, str] | None = None
) -> FragmentKey:
    """The key of a fragment on a page with this query. Raises KeyError for an unknown fragment."""
    query = query or {}
    params = _fragments[fragment_name].params
    read_params = tuple((key, query[key][:VALUE_LENGTH_MAX]) for key in params if query.get(key))
    return FragmentKey(fragment_name, name, read_params)


def parse(text: str) -> FragmentKey | None:
    """Parse the parameter `show` of a socket; None for an unknown fragment."""
    if len(text) > URL_LENGTH_MAX:
        return None
    names, _separator, query = text.partition("?")
    fragment_name, _separator, name = names.partition(":")
    if fragment_name not in _fragments:
        return None
    try:
        params = dict(parse_qsl(query, max_num_fields=50))
    except ValueError:
        return None
    return fragment_key(fragment_name, unquote(name), params)

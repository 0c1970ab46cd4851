"""The registry of live fragments; apps register theirs in `AppConfig.ready()`.

The parameter `show` of a socket's URL is a `Show` as text: `topics?sort=-rate&page=2`,
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

VALUE_LENGTH_MAX = 200  # of a parameter; a search is no longer

# Arguments: cluster, the user's rights, the fragment's argument, the query; None = nothing to show.
Context = Callable[[Cluster, Rights, str, Mapping[str, str]], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A live fragment: a template, whose root elements have the ids they replace, and its context.

    Attributes:
        verb: the right that is needed to see it.
        params: the names of the query parameters that the context reads.
        shows_alerts: whether it also changes when an alert changes.
    """

    verb: str
    template: str
    context: Context
    params: tuple[str, ...] = ()
    shows_alerts: bool = False


@dataclass(frozen=True, slots=True)
class Show:
    """What a page shows: a fragment with its argument and query."""

    name: str
    argument: str = ""
    query: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        argument = f":{quote(self.argument, safe='')}" if self.argument else ""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{self.name}{argument}{query}"

    @property
    def fragment(self) -> Fragment:
        return _fragments[self.name]

    def context(self, cluster: Cluster, rights: Rights) -> dict[str, Any] | None:
        """The template's context; None if these rights do not allow it."""
        if not rights.may(self.fragment.verb):
            return None
        return self.fragment.context(cluster, rights, self.argument, dict(self.query))


_fragments: dict[str, Fragment] = {}


def register(name: str, fragment: Fragment) -> None:
    """Register a fragment."""
    _fragments[name] = fragment


def show(name: str, argument: str = "", query: Mapping[str, str] | None = None) -> Show:
    """The `Show` of a page with this query. Raises KeyError for an unknown fragment."""
    query = query or {}
    params = _fragments[name].params
    kept = tuple((key, query[key][:VALUE_LENGTH_MAX]) for key in params if query.get(key))
    return Show(name, argument, kept)


def parse(text: str) -> Show | None:
    """Parse the parameter `show` of a socket; None for an unknown fragment."""
    if len(text) > URL_LENGTH_MAX:
        return None
    subject, _mark, query = text.partition("?")
    name, _colon, argument = subject.partition(":")
    if name not in _fragments:
        return None
    try:
        asked = dict(parse_qsl(query, max_num_fields=50))
    except ValueError:
        return None
    return show(name, unquote(argument), asked)

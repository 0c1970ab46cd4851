"""The live parts of pages, registered by the apps that own them in `AppConfig.ready()`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.accounts.rights import Rights
from monitoring.models import Cluster

# For a cluster, the rights of the reader and an argument; None = nothing to show.
Context = Callable[[Cluster, Rights, str], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A template whose root element carries the id it replaces, and where its context comes from.

    Attributes:
        verb: the right without which nothing is rendered.
    """

    verb: str
    template: str
    context: Context


_fragments: dict[str, Fragment] = {}


def register(name: str, fragment: Fragment) -> None:
    """Let pages ask for `fragment` by `?show=name` or `?show=name:argument`."""
    _fragments[name] = fragment


def find(show: str) -> tuple[Fragment, str] | None:
    """The fragment and the argument that a page asks for; None where there is none such."""
    name, _colon, argument = show.partition(":")
    fragment = _fragments.get(name)
    return None if fragment is None else (fragment, argument)

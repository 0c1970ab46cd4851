"""JSON as a tree for pages: each member a line, objects and lists can be collapsed. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any

from console.records.visible_text import visible

NODES_MAX, DEPTH_MAX = 2_000, 40
_TEXT_MAX = 2_000  # characters of one value


class _Number(str):
    """A number as it was sent."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, in order, also those of the same name."""


@dataclass(slots=True)
class Node:
    """A value with its name in the object, or its index in the list, that holds it.

    `kind` is object, list, string, number or literal (true, false, null). `size` is the number of
    all members; `children` can have fewer.
    """

    name: str
    kind: str
    text: str = ""
    size: int = 0
    children: list["Node"] = field(default_factory=list)

    @property
    def is_cut(self) -> bool:
        return len(self.children) < self.size


def tree(text: str) -> Node | None:
    """The tree of a JSON object or list; None of anything else."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text, parse_float=_Number, parse_int=_Number, object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        return None
    return _Builder().node("", value, 0)


class _Builder:
    """Makes at most NODES_MAX nodes."""

    def __init__(self) -> None:
        self._nodes_left = NODES_MAX

    def node(self, name: str, value: Any, depth: int) -> Node:
        self._nodes_left -= 1
        if isinstance(value, _Members):
            return self._container(Node(name, "object", size=len(value)), value, depth)
        if isinstance(value, list):
            named = [(str(index), each) for index, each in enumerate(value)]
            return self._container(Node(name, "list", size=len(value)), named, depth)
        if isinstance(value, _Number):
            return Node(name, "number", value[:_TEXT_MAX])
        if isinstance(value, str):
            return Node(name, "string", _shown(value))
        return Node(name, "literal", json.dumps(value))

    def _container(self, node: Node, members: list[tuple[str, Any]], depth: int) -> Node:
        if depth < DEPTH_MAX:
            for name, value in members:
                if self._nodes_left <= 0:
                    break
                node.children.append(self.node(_shown(name), value, depth + 1))
        return node


def _shown(text: str) -> str:
    """The text, shortened and visible, without lone surrogates, which a page cannot contain."""
    return visible(text[:_TEXT_MAX].encode("utf-8", "replace").decode())

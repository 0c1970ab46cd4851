"""Compiles an Avro schema: to readers of values, to writers, or to a JSON Schema for mock values.

A `TypeBuilder` makes the result for each type. A named type has the same result wherever it is
used, so schemas may be recursive. Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeGuard, TypeVar

from monitoring.schema_registry.decoding_limits import DEPTH_MAX, SchemaInvalid

TYPES_MAX = 20_000  # in one schema with its references
NO_DEFAULT = object()
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_NAME_LENGTH_MAX = 1_000
_PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
T = TypeVar("T")
Members = list[tuple[str, T, Any]]  # name, type, and default value or NO_DEFAULT


class TypeBuilder(Protocol[T]):
    """Makes the result of each kind of type. `tree`: the type in JSON, for logical types."""

    @property
    def primitives(self) -> Mapping[str, T]: ...
    def primitive(self, tree: dict[str, Any]) -> T: ...
    def fixed(self, tree: dict[str, Any], name: str) -> T: ...
    def enum(self, symbols: list[str], name: str) -> T: ...
    def union(self, branches: list[T]) -> T: ...
    def array(self, item: T) -> T: ...
    def map(self, item: T) -> T: ...
    def record(self, members: Members[T], name: str) -> T:
        """`members` are filled later."""
        ...


def compile_schema(
    builder: TypeBuilder[T], text: str, references: Sequence[tuple[str, str]] = ()
) -> tuple[T, Any]:
    """The result of `builder` for a schema, and the schema in JSON.

    `references`: names and texts of the schemas whose types it names, each after those that it
    names itself. Raises SchemaInvalid.
    """
    compiler = _Compiler(builder)
    for _name, each in references:
        compiler.compile(_parsed(each), "", 0)
    tree = _parsed(text)
    return compiler.compile(tree, "", 0), tree


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        # The registry gives the schema of a single type without quotes, such as: string
        if text.strip() in _PRIMITIVES:
            return text.strip()
        raise SchemaInvalid("it is not JSON") from error
    except RecursionError as error:
        raise SchemaInvalid("it is nested too deeply") from error


class _Compiler(Generic[T]):
    def __init__(self, builder: TypeBuilder[T]) -> None:
        self._builder = builder
        self._named: dict[str, T] = {}
        self._count = 0

    def compile(self, tree: Any, namespace: str, depth: int) -> T:
        self._count += 1
        if self._count > TYPES_MAX:
            raise SchemaInvalid(f"it has more than {TYPES_MAX} types")
        if depth > DEPTH_MAX:
            raise SchemaInvalid(f"it is nested more than {DEPTH_MAX} times")
        if isinstance(tree, str):
            return self._by_name(tree, namespace)
        if isinstance(tree, list):
            return self._builder.union([self.compile(each, namespace, depth + 1) for each in tree])
        if not isinstance(tree, dict) or "type" not in tree:
            raise SchemaInvalid("a type is neither a name, nor an object, nor a list")
        return self._complex(tree, namespace, depth)

    def _complex(self, tree: dict[str, Any], namespace: str, depth: int) -> T:
        kind = tree["type"]
        if kind in ("record", "error"):
            return self._record(tree, namespace, depth)
        if kind == "array":
            return self._builder.array(self.compile(tree.get("items"), namespace, depth + 1))
        if kind == "map":
            return self._builder.map(self.compile(tree.get("values"), namespace, depth + 1))
        if kind == "enum":
            symbols = tree.get("symbols")
            if not isinstance(symbols, list) or not all(map(is_usable_name, symbols)):
                raise SchemaInvalid("an enum has no valid list of symbols")
            name = _full_name(tree, namespace)
            return self._add(name, self._builder.enum(symbols, name))
        if kind == "fixed":
            size = tree.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise SchemaInvalid("a fixed type has no valid size")
            name = _full_name(tree, namespace)
            return self._add(name, self._builder.fixed(tree, name))
        if isinstance(kind, str) and kind in _PRIMITIVES:
            return self._builder.primitive(tree)
        return self.compile(kind, namespace, depth + 1)

    def _record(self, tree: dict[str, Any], namespace: str, depth: int) -> T:
        fields = tree.get("fields")
        if not isinstance(fields, list):
            raise SchemaInvalid("a record has no list of fields")
        members: Members[T] = []
        name = _full_name(tree, namespace)
        record = self._add(name, self._builder.record(members, name))
        inner = name.rpartition(".")[0]
        for field in fields:
            if not isinstance(field, dict) or not is_usable_name(field.get("name")):
                raise SchemaInvalid("a field has no valid name")
            kind = self.compile(field.get("type"), inner, depth + 1)
            members.append((field["name"], kind, field.get("default", NO_DEFAULT)))
        return record

    def _add(self, name: str, made: T) -> T:
        if name in _PRIMITIVES:
            raise SchemaInvalid(f"a type has the name {name}")
        self._named[name] = made
        return made

    def _by_name(self, name: str, namespace: str) -> T:
        if name in _PRIMITIVES:
            return self._builder.primitives[name]
        names = [name] if "." in name or not namespace else [f"{namespace}.{name}", name]
        for each in names:
            if each in self._named:
                return self._named[each]
        raise SchemaInvalid(f"it names the unknown type {name[:100]!r}")


def _full_name(tree: dict[str, Any], namespace: str) -> str:
    name, space = tree.get("name"), tree.get("namespace", namespace)
    if not is_usable_name(name) or not _NAME.fullmatch(name):
        raise SchemaInvalid("a type has no valid name")
    return name if "." in name or not isinstance(space, str) or not space else f"{space}.{name}"


def is_usable_name(name: Any) -> TypeGuard[str]:
    """Whether this is a text of limited length that can be in JSON: without lone surrogates."""
    return isinstance(name, str) and len(name) <= _NAME_LENGTH_MAX and name.isprintable()

"""Checks JSON against a JSON Schema, for writing. Pure.

Checked keywords: $ref within the document or to a reference by its name or `$id`, type, enum,
const, properties, patternProperties, additionalProperties, required, minProperties, maxProperties,
propertyNames, items, prefixItems, additionalItems, minItems, maxItems, uniqueItems, minimum,
maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, allOf,
anyOf, oneOf, not, if/then/else. Others, such as `format`, are ignored. Patterns are those of RE2.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeGuard

import re2

from monitoring.schema_registry.decoding_limits import SchemaInvalid
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.value_errors import Exhausted, ValueBudget, ValueDoesNotFit

_SHOWN_CHARS_MAX = 200
_CHARS_OF_VALUE = 50  # so many characters that are compared count as one value
_PATTERN_CHARS_MAX = 1_000
Schema = Mapping[str, Any]


class JsonSchema:
    def __init__(self, text: str, references: Sequence[tuple[str, str]] = ()) -> None:
        """`references`: names and texts. Raises SchemaInvalid."""
        self._root = _parsed(text)
        self._documents = {name: _parsed(each) for name, each in references}
        for each in (self._root, *self._documents.values()):
            if isinstance(each, dict) and isinstance(each.get("$id"), str):
                self._documents.setdefault(each["$id"], each)

    def check(self, value: Any) -> None:
        """Raises ValueDoesNotFit, or SchemaInvalid if a part of the schema cannot be used."""
        self._check(self._root, self._root, value, ValueBudget())

    def _check(self, schema: Any, root: Any, value: Any, budget: ValueBudget) -> None:
        budget.spend(1)
        if schema is True:
            return
        if schema is False:
            raise ValueDoesNotFit(why="the schema allows nothing here")
        if not isinstance(schema, dict):
            raise SchemaInvalid("a schema is neither an object nor true nor false")
        if "$ref" in schema:
            target, target_root = self._target(schema["$ref"], root)
            with budget.within(part=None):
                self._check(target, target_root, value, budget)
        _check_plain(schema, value, budget)
        if isinstance(value, dict):
            self._check_object(schema, root, value, budget)
        elif isinstance(value, list):
            self._check_array(schema, root, value, budget)
        self._check_combined(schema, root, value, budget)

    def _target(self, reference: Any, root: Any) -> tuple[Any, Any]:
        if not isinstance(reference, str):
            raise SchemaInvalid("a $ref is not a text")
        name, _hash, pointer = reference.partition("#")
        found = found_root = self._documents.get(name) if name else root
        if name and found is None:
            raise SchemaInvalid(f"it refers to the unknown document {name[:100]!r}")
        for part in pointer.lstrip("/").split("/") if pointer else ():
            part = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or part not in found:
                raise SchemaInvalid(f"it refers to the unknown part {reference[:100]!r}")
            found = found[part]
        return found, found_root

    def _misfit(
        self, schema: Any, root: Any, value: Any, budget: ValueBudget
    ) -> ValueDoesNotFit | None:
        """Why the value does not fit a part of the schema; None if it fits."""
        try:
            with budget.within(part=None):
                self._check(schema, root, value, budget)
        except Exhausted:
            raise
        except ValueDoesNotFit as error:
            return error
        return None

    def _check_object(
        self, schema: Schema, root: Any, value: dict[str, Any], budget: ValueBudget
    ) -> None:
        required = _texts(schema, "required")
        budget.spend(len(required) // _CHARS_OF_VALUE)
        for name in required:
            if name not in value:
                with budget.within(name):
                    raise ValueDoesNotFit(why="it is missing")
        _check_size(schema, len(value), "minProperties", "maxProperties", "members")
        members = _object_of(schema, "properties")
        patterns = _object_of(schema, "patternProperties")
        for name, each in value.items():
            parts = [members[name]] if name in members else []
            budget.spend(len(patterns))
            for pattern, part in patterns.items():
                if _matches(pattern, _counted(name, budget)):
                    parts.append(part)
            if not parts:
                parts = [schema.get("additionalProperties", True)]
            with budget.within(name):
                if parts == [False]:
                    raise ValueDoesNotFit(why="the schema has no such member")
                for part in parts:
                    self._check(part, root, each, budget)
                if "propertyNames" in schema:
                    self._check(schema["propertyNames"], root, name, budget)

    def _check_array(
        self, schema: Schema, root: Any, value: list[Any], budget: ValueBudget
    ) -> None:
        _check_size(schema, len(value), "minItems", "maxItems", "items")
        items = schema.get("items", True)
        if isinstance(items, list):  # before draft 2020-12
            first, rest = items, schema.get("additionalItems", True)
        else:
            first, rest = _list(schema, "prefixItems"), items
        for number, each in enumerate(value):
            with budget.within(number):
                part = first[number] if number < len(first) else rest
                self._check(part, root, each, budget)
        if schema.get("uniqueItems") is True:
            texts = [_counted(_canonical(each), budget) for each in value]
            if len(set(texts)) < len(texts):
                raise ValueDoesNotFit("items that are all different")

    def _check_combined(self, schema: Schema, root: Any, value: Any, budget: ValueBudget) -> None:
        for part in _list(schema, "allOf"):
            self._check(part, root, value, budget)
        for keyword in ("anyOf", "oneOf"):
            if keyword not in schema:
                continue
            errors = [self._misfit(p, root, value, budget) for p in _list(schema, keyword)]
            count = errors.count(None)
            if count == 0:
                deep = [error for error in errors if error and error.path]
                raise deep[0] if len(deep) == 1 else ValueDoesNotFit(why=_of_all(errors))
            if keyword == "oneOf" and count > 1:
                raise ValueDoesNotFit(why="more than one part of “oneOf” allows it")
        if "not" in schema and self._misfit(schema["not"], root, value, budget) is None:
            raise ValueDoesNotFit(why="“not” forbids it")
        if "if" in schema:
            fits = self._misfit(schema["if"], root, value, budget) is None
            self._check(schema.get("then" if fits else "else", True), root, value, budget)


def _check_plain(schema: Schema, value: Any, budget: ValueBudget) -> None:
    kinds = schema.get("type")
    if kinds is not None:
        names = kinds if isinstance(kinds, list) else [kinds]
        if not any(_is_type(value, name) for name in names):
            raise ValueDoesNotFit(" or ".join(map(str, names))[:_SHOWN_CHARS_MAX])
    if "enum" in schema:
        _check_allowed(_list(schema, "enum"), value, budget)
    if "const" in schema:
        _check_allowed([schema["const"]], value, budget)
    if _is_number(value):
        _check_number(schema, value)
    if isinstance(value, str):
        _check_size(schema, len(value), "minLength", "maxLength", "characters")
        pattern = schema.get("pattern")
        if pattern is not None and not _matches(pattern, _counted(value, budget)):
            raise ValueDoesNotFit(f"a text like {pattern[:_SHOWN_CHARS_MAX]}")


_COMPARISONS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "at least", lambda value, limit: value >= limit),
    ("maximum", "at most", lambda value, limit: value <= limit),
    ("exclusiveMinimum", "more than", lambda value, limit: value > limit),
    ("exclusiveMaximum", "less than", lambda value, limit: value < limit),
)


def _check_number(schema: Schema, value: int | Decimal) -> None:
    for keyword, text, fits in _COMPARISONS:
        limit = schema.get(keyword)
        if _is_number(limit) and not fits(value, limit):
            raise ValueDoesNotFit(f"a number of {text} {limit}")
    step = schema.get("multipleOf")
    if _is_number(step) and step > 0 and Fraction(value) % Fraction(step):
        raise ValueDoesNotFit(f"a multiple of {step}")


def _check_size(schema: Schema, size: int, low: str, high: str, what: str) -> None:
    least, most = schema.get(low), schema.get(high)
    if _is_number(least) and size < least:
        raise ValueDoesNotFit(f"at least {least} {what}")
    if _is_number(most) and size > most:
        raise ValueDoesNotFit(f"at most {most} {what}")


def _is_type(value: Any, name: Any) -> bool:
    if name == "integer":
        return _is_number(value) and value == int(value)
    if name == "number":
        return _is_number(value)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    if name not in kinds:
        raise SchemaInvalid(f"there is no type {str(name)[:100]!r}")
    return isinstance(value, kinds[name])


def _is_number(value: Any) -> TypeGuard[int | Decimal]:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _check_allowed(allowed: list[Any], value: Any, budget: ValueBudget) -> None:
    texts = [_counted(_canonical(each), budget) for each in (value, *allowed)]
    if texts[0] not in texts[1:]:
        one_of = "one of " if len(allowed) > 1 else ""
        raise ValueDoesNotFit(f"{one_of}{', '.join(texts[1:])[:_SHOWN_CHARS_MAX]}")


def _counted(text: str, budget: ValueBudget) -> str:
    """The text; its length counts in the budget. Raises ValueDoesNotFit."""
    budget.spend(len(text) // _CHARS_OF_VALUE)
    return text


def _canonical(value: Any) -> str:
    """Equal for equal JSON: 1 and 1.0 are the same number."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_number_text)


def _number_text(number: Decimal) -> int | str:
    return int(number) if number == int(number) else str(number.normalize())


def _of_all(errors: Sequence[ValueDoesNotFit | None]) -> str:
    texts = dict.fromkeys(error.why for error in errors if error)
    return " or ".join(texts)[:_SHOWN_CHARS_MAX]


def _texts(schema: Schema, keyword: str) -> list[str]:
    return [each for each in _list(schema, keyword) if isinstance(each, str)]


def _list(schema: Schema, keyword: str) -> list[Any]:
    found = schema.get(keyword, [])
    if not isinstance(found, list):
        raise SchemaInvalid(f"“{keyword}” is not a list")
    return found


def _object_of(schema: Schema, keyword: str) -> dict[str, Any]:
    found = schema.get(keyword, {})
    if not isinstance(found, dict):
        raise SchemaInvalid(f"“{keyword}” is not an object")
    return found


def _matches(pattern: Any, text: str) -> bool:
    try:
        return _compiled(pattern).search(text) is not None
    except (re2.error, TypeError, ValueError) as error:
        raise SchemaInvalid("a pattern is none that RE2 knows") from error


@lru_cache(maxsize=100)
def _compiled(pattern: str) -> Any:
    if not isinstance(pattern, str) or len(pattern) > _PATTERN_CHARS_MAX:
        raise ValueError
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _parsed(text: str) -> Any:
    try:
        return exact_json(text)
    except (ValueError, RecursionError) as error:
        raise SchemaInvalid("it is not JSON") from error

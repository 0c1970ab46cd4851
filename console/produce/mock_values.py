"""JSON values that follow a JSON Schema, or an example, and vary. Pure: the same seed and number
make the same value.

Of a schema these keywords count: type, enum, const, examples, properties, required, items,
minItems, maxItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength,
maxLength, format (date-time, date, time, uuid, email, uri, hostname, ipv4), anyOf, oneOf, allOf,
and $ref inside of the document. `pattern`, `not` and conditions are refused, since values would not
follow them. `like` is a keyword of this module: a text whose digits vary.
"""

import json
import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.utils.translation import gettext as _

N = TypeVar("N", int, float)
_REFUSED = ("pattern", "patternProperties", "not", "if", "dependentSchemas", "contains")
_DEPTH_MAX = 24
# From here on optional members and items are left out, and null is chosen: recursive schemas end.
_DEPTH_SHORT = 5
_ITEMS_MAX, _LENGTH_MAX = 1000, 10_000
_SIZE_MAX, _PART_SIZE = 1 << 20, 8  # characters of a value as JSON, about; of each part, at least
_REFERENCES_MAX = 50
_SPAN_MS = 30 * 24 * 3_600_000
_WORDS = (
    "amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "haven", "iris", "juniper",
    "kelp", "lotus", "maple", "north", "ocean", "pearl", "quartz", "river", "sage", "tulip",
)  # fmt: skip


class InvalidSchema(Exception):
    """The schema cannot be followed; the message says where and why."""


class MockValues:
    """Makes values that follow a schema. `now_ms`: times are of the 30 days before it."""

    def __init__(self, schema: Any, seed: int, now_ms: int) -> None:
        self._schema, self._seed, self._now_ms = schema, seed, now_ms
        self._random = random.Random()
        self._size_left = 0

    def value(self, number: int) -> Any:
        """The value of a number, from 0 on. Raises InvalidSchema."""
        self._random.seed(f"{self._seed}/{number}")
        self._size_left = _SIZE_MAX
        return self._value(self._schema, "#", 0)

    def _value(self, schema: Any, path: str, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise _invalid(path, _("the schema requires values of endless depth"))
        self._spend(_PART_SIZE, path)
        schema = self._resolved(schema, path)
        if "const" in schema:
            return self._given(schema["const"], path)
        if "enum" in schema:
            return self._given(self._choice(schema["enum"]), path)
        if schema.get("examples"):
            return self._given(self._choice(schema["examples"]), path)
        for keyword in ("anyOf", "oneOf"):
            if schema.get(keyword):
                rest = {name: part for name, part in schema.items() if name != keyword}
                chosen = self._resolved(self._choose_part(schema[keyword], depth), path)
                return self._value(_merged(rest, chosen, path), path, depth + 1)
        kind = self._type(schema, path)
        makers: dict[str, Callable[[Mapping[str, Any], str, int], Any]] = {
            "object": self._object, "array": self._array, "string": self._string,
            "integer": self._integer, "number": self._number,
            "boolean": lambda *_args: self._random.random() < 0.5, "null": lambda *_args: None,
        }  # fmt: skip
        if kind not in makers:
            raise _invalid(path, _("there is no type “%(name)s”") % {"name": kind})
        return makers[kind](schema, path, depth)

    def _given(self, value: Any, path: str) -> Any:
        """A value that the schema itself names."""
        self._spend(len(json.dumps(value)), path)
        return value

    def _spend(self, size: int, path: str) -> None:
        self._size_left -= size
        if self._size_left < 0:
            raise _invalid(path, _("the value becomes larger than 1 MiB"))

    def _choose_part(self, parts: Any, depth: int) -> Any:
        """A part of anyOf or oneOf; deep inside, null if it is one of them."""
        null = {"type": "null"}
        is_short = depth >= _DEPTH_SHORT and isinstance(parts, list) and null in parts
        return null if is_short else self._choice(parts)

    def _resolved(self, schema: Any, path: str) -> Mapping[str, Any]:
        """The schema with references followed and allOf merged."""
        if schema is True:
            return {"type": "string"}
        for _step in range(_REFERENCES_MAX):
            if not isinstance(schema, Mapping):
                raise _invalid(path, _("a schema is a JSON object"))
            if refused := next((name for name in _REFUSED if name in schema), None):
                text = _("the keyword “%(name)s” is not supported") % {"name": refused}
                raise _invalid(path, text)
            if "$ref" in schema:
                rest = {name: part for name, part in schema.items() if name != "$ref"}
                schema = _merged(rest, self._referenced(schema["$ref"], path), path)
            elif schema.get("allOf"):
                merged: Mapping[str, Any] = {n: p for n, p in schema.items() if n != "allOf"}
                for part in _list(schema["allOf"], path):
                    merged = _merged(merged, self._resolved(part, path), path)
                schema = merged
            else:
                return schema
        raise _invalid(path, _("its references never end"))

    def _referenced(self, reference: Any, path: str) -> Any:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            text = _("a $ref must begin with “#/”: other documents are not read")
            raise _invalid(path, text)
        found = self._schema
        for part in reference[2:].split("/") if reference != "#" else ():
            part = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or part not in found:
                text = _("there is no “%(name)s” in the document") % {"name": reference[:100]}
                raise _invalid(path, text)
            found = found[part]
        return found

    def _type(self, schema: Mapping[str, Any], path: str) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self._choice(kind)
        if kind is None:
            guesses = (("properties", "object"), ("items", "array"), ("minimum", "number"))
            kind = next((name for keyword, name in guesses if keyword in schema), "string")
        if not isinstance(kind, str):
            raise _invalid(path, _("the type must be a text or a list of texts"))
        return kind

    def _object(self, schema: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise _invalid(path, _("“properties” must be an object"))
        required = _list(schema.get("required", []), path)
        members = {}
        for name, part in properties.items():
            is_chosen = self._random.random() < 0.8 and depth < _DEPTH_SHORT
            if name in required or is_chosen:
                members[name] = self._value(part, f"{path}/{name}", depth + 1)
        return members

    def _array(self, schema: Mapping[str, Any], path: str, depth: int) -> list[Any]:
        is_short = depth >= _DEPTH_SHORT
        low = _whole_number(schema, "minItems", 0, path)
        if low > _ITEMS_MAX:
            raise _invalid(
                path, _("arrays of more than %(n)d items are not made") % {"n": _ITEMS_MAX}
            )
        high = _whole_number(schema, "maxItems", low if is_short else low + 3, path)
        low = low if is_short or high == 0 else max(1, low)
        number = self._random.randint(low, max(low, min(high, _ITEMS_MAX)))
        part = schema.get("items", {"type": "string"})
        return [self._value(part, f"{path}/items", depth + 1) for _n in range(number)]

    def _integer(self, schema: Mapping[str, Any], path: str, _depth: int) -> int:
        low, high = _bounds(schema, path)
        step = schema.get("multipleOf", 1)
        if not _is_number(step) or step <= 0 or int(step) != step:
            raise _invalid(path, _("“multipleOf” of an integer must be a whole number above 0"))
        if isinstance(schema.get("exclusiveMinimum"), int):
            low += 1
        if isinstance(schema.get("exclusiveMaximum"), int):
            high -= 1
        return self._multiple(low, high, int(step), path)

    def _number(self, schema: Mapping[str, Any], path: str, _depth: int) -> float:
        low, high = _bounds(schema, path)
        if low > high:
            raise _invalid(path, _("no number is within its limits"))
        if (step := schema.get("multipleOf")) is not None:
            if not _is_number(step) or step <= 0:
                raise _invalid(path, _("“multipleOf” must be a number above 0"))
            return float(round(self._multiple(low, high, step, path), 9))
        value = self._random.uniform(low, high)
        rounded = round(value, 2)
        return rounded if low < rounded < high else value

    def _multiple(self, low: float, high: float, step: N, path: str) -> N:
        """A multiple of `step` from `low` to `high`."""
        first, last = -int(-low // step), int(high // step)
        if first > last:
            raise _invalid(path, _("no number is within its limits"))
        return self._random.randint(first, last) * step

    def _string(self, schema: Mapping[str, Any], path: str, _depth: int) -> str:
        if isinstance(schema.get("like"), str):
            self._spend(len(schema["like"]), path)
            return "".join(map(self._like, schema["like"]))
        if formatted := self._formatted(schema.get("format")):
            return formatted
        low = _whole_number(schema, "minLength", 0, path)
        high = _whole_number(schema, "maxLength", max(low, 24), path)
        if low > high or low > _LENGTH_MAX:
            raise _invalid(path, _("no text has this length"))
        text = " ".join(self._random.choices(_WORDS, k=self._random.randint(1, 2)))
        while len(text) < low:
            text += f" {self._random.choice(_WORDS)}"
        self._spend(len(text), path)
        return text[: min(high, _LENGTH_MAX)]

    def _formatted(self, name: Any) -> str:
        """A text of a format; "" if the format is unknown."""
        generator = self._random
        at = datetime.fromtimestamp((self._now_ms - generator.randrange(_SPAN_MS)) / 1000, UTC)
        word, other = generator.choices(_WORDS, k=2)
        moment = at.strftime("%Y-%m-%dT%H:%M:%S") + f".{at.microsecond // 1000:03d}Z"
        return {
            "date-time": moment,
            "date": moment[:10],
            "time": moment[11:],
            "uuid": str(uuid.UUID(int=generator.getrandbits(128), version=4)),
            "email": f"{word}.{other}{generator.randrange(100)}@example.com",
            "uri": f"https://example.com/{word}/{generator.randrange(10_000)}",
            "hostname": f"{word}-{generator.randrange(100)}.example.com",
            "ipv4": f"192.0.2.{generator.randrange(1, 255)}",
        }.get(name if isinstance(name, str) else "", "")

    def _like(self, char: str) -> str:
        return str(self._random.randrange(10)) if char in "0123456789" else char

    def _choice(self, values: Any) -> Any:
        if not isinstance(values, list) or not values:
            raise InvalidSchema(_("“enum”, “examples”, “anyOf” and “oneOf” need a list of values."))
        return self._random.choice(values)


def _merged(one: Mapping[str, Any], other: Any, path: str) -> Mapping[str, Any]:
    """A schema with the keywords of both; where both have one, that of `one` counts. Of
    `properties` and `required` both count."""
    if other is True:
        return one
    if not isinstance(other, Mapping):
        raise _invalid(path, _("a schema is a JSON object"))
    kinds = {part["type"] for part in (one, other) if isinstance(part.get("type"), str)}
    if len(kinds) > 1 and kinds != {"integer", "number"}:
        names = ", ".join(sorted(kinds))
        raise _invalid(path, _("no value has all of these types: %(names)s") % {"names": names})
    merged = {**other, **one}
    if isinstance(one.get("properties"), Mapping) and isinstance(other.get("properties"), Mapping):
        merged["properties"] = {**other["properties"], **one["properties"]}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        merged["required"] = [*other["required"], *one["required"]]
    return merged


def _bounds(schema: Mapping[str, Any], path: str) -> tuple[float, float]:
    """The limits of a number; with one of them, the other is 1000 away."""
    lows = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    highs = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    if not all(map(_is_number, [*lows, *highs])):
        raise _invalid(path, _("limits of a number must be numbers"))
    low = max(lows) if lows else min(0, min(highs) - 1000) if highs else 0
    return low, min(highs) if highs else low + 1000


def _whole_number(schema: Mapping[str, Any], name: str, default: int, path: str) -> int:
    value = schema.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        text = _("“%(name)s” must be a whole number from 0 on") % {"name": name}
        raise _invalid(path, text)
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _invalid(path, _("“required” and “allOf” must be lists"))
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _invalid(path: str, why: str) -> InvalidSchema:
    return InvalidSchema(_("At “%(path)s”: %(why)s.") % {"path": path[:200], "why": why})

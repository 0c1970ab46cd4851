"""Values of a JSON Schema or like an example: they vary, follow it, and are the same for a seed."""

import json
import re
from datetime import datetime
from uuid import UUID

import pytest

from console.produce.mock_example import schema_of
from console.produce.mock_values import InvalidSchema, MockValues

NOW_MS = 1_795_773_600_000
ORDER = {
    "type": "object",
    "required": ["id", "state", "lines", "customer"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "state": {"enum": ["new", "paid", "sent"]},
        "at": {"type": "string", "format": "date-time"},
        "amount": {"type": "number", "minimum": 1, "maximum": 5},
        "count": {"type": "integer", "exclusiveMinimum": 0, "maximum": 12, "multipleOf": 4},
        "note": {"type": ["string", "null"], "minLength": 30, "maxLength": 40},
        "customer": {"$ref": "#/$defs/customer"},
        "lines": {
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "items": {"allOf": [{"$ref": "#/$defs/line"}, {"required": ["price"]}]},
        },
    },
    "$defs": {
        "customer": {
            "type": "object",
            "properties": {"mail": {"format": "email"}, "friend": {"$ref": "#/$defs/customer"}},
            "required": ["mail"],
        },
        "line": {
            "properties": {"price": {"type": "integer", "minimum": 7, "maximum": 9}},
        },
    },
}


def some(schema, number=200, seed=1):
    values = MockValues(schema, seed, NOW_MS)
    return [values.value(each) for each in range(number)]


def test_values_follow_the_schema():
    orders = some(ORDER)
    for name in ("at", "amount", "count", "note"):
        assert {name in order for order in orders} == {True, False}, "it is optional"
    assert {type(order["note"]) for order in orders if "note" in order} == {str, type(None)}
    for order in orders:
        assert UUID(order["id"]).version == 4
        assert order["state"] in ("new", "paid", "sent")
        assert "at" not in order or datetime.fromisoformat(order["at"]).year in (2026, 2025)
        assert 1 <= order.get("amount", 1) <= 5
        assert order.get("count", 4) in (4, 8, 12)
        assert order.get("note") is None or 30 <= len(order["note"]) <= 40
        assert re.fullmatch(r"[\w.]+@example\.com", order["customer"]["mail"])
        assert 2 <= len(order["lines"]) <= 3
        assert all(line["price"] in (7, 8, 9) for line in order["lines"])


def test_values_vary_and_are_the_same_for_a_seed():
    orders = [json.dumps(order) for order in some(ORDER)]
    assert len(set(orders)) == len(orders)
    assert orders == [json.dumps(order) for order in some(ORDER)]
    assert orders != [json.dumps(order) for order in some(ORDER, seed=2)]
    assert {order["state"] for order in some(ORDER)} == {"new", "paid", "sent"}


def test_values_are_like_their_example():
    example = {
        "id": "order-0017", "at": "2026-11-27T10:00:00Z", "mail": "a@b.example", "paid": True,
        "amount": 12.5, "count": 4, "zero": 0, "none": None, "tags": ["x1", 2], "empty": [],
        "ms": 1_700_000_000_000, "kind": "shop", "nested": {"ip": "10.0.0.1"}, "less": -4,
    }  # fmt: skip
    made = some(schema_of(example))
    for value in made:
        assert list(value) == list(example)
        assert re.fullmatch(r"order-\d{4}", value["id"])
        assert datetime.fromisoformat(value["at"])
        assert 6.25 <= value["amount"] <= 25
        assert 2 <= value["count"] <= 8
        assert -8 <= value["less"] <= -2
        assert value["kind"] == "shop"
        assert value["none"] is None
        assert value["empty"] == []
        assert 1 <= len(value["tags"]) <= 4
        assert abs(value["ms"] - example["ms"]) <= 86_400_000
    assert len({value["id"] for value in made}) > 150
    assert {value["paid"] for value in made} == {True, False}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([], "a schema is a JSON object"),
        ({"type": "text"}, "there is no type “text”"),
        (
            {"properties": {"a": {"pattern": "x"}}, "required": ["a"]},
            "“#/a”: the keyword “pattern”",
        ),
        ({"$ref": "https://example.com/schema"}, "other documents are not read"),
        ({"$ref": "#/$defs/none"}, "there is no “#/\\$defs/none”"),
        ({"$ref": "#"}, "never end"),
        ({"enum": []}, "need a list"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "no number"),
        ({"type": "integer", "minimum": "5"}, "must be numbers"),
        ({"type": "string", "minLength": 9, "maxLength": 3}, "no text"),
        ({"type": "array", "minItems": -1}, "whole number from 0"),
        ({"type": "array", "minItems": 100_000_000}, "more than 1000 items"),
        ({"type": "number", "multipleOf": 0}, "above 0"),
        ({"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 5}, "no number"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "integer, string"),
        ({"properties": 3}, "“properties” must be an object"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "endless depth"),
        ({"type": 5}, "must be a text"),
    ],
)
def test_a_schema_that_cannot_be_followed_is_refused_with_the_place(schema, why):
    with pytest.raises(InvalidSchema, match=why):
        some(schema, 20)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 1000, "items": {"type": "string", "minLength": 9000}},
        {"type": "array", "minItems": 900, "items": {"type": "array", "minItems": 900}},
        {"type": "array", "minItems": 900, "items": {"const": "x" * 5000}},
        {"type": "array", "minItems": 900, "items": {"type": "string", "like": "1" * 5000}},
    ],
)
def test_a_value_that_becomes_too_large_is_refused(schema):
    with pytest.raises(InvalidSchema, match="larger than 1 MiB"):
        MockValues(schema, 1, NOW_MS).value(0)


def test_a_recursive_schema_ends():
    tree = {
        "properties": {
            "name": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["name", "kids"],
    }
    assert all(len(json.dumps(value)) < 100_000 for value in some(tree, 20))


def test_any_json_is_an_example():
    for example in (None, True, 0, -1, 2.5, "", "text", [], [[1]], {}, 10**30, 1e308, "9" * 50):
        for value in some(schema_of(example), 5):
            json.dumps(value)

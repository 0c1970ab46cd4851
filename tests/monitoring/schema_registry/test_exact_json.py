"""JSON with all digits of its numbers, and back."""

from decimal import Decimal

import pytest

from monitoring.schema_registry.exact_json import compact_json, exact_json


@pytest.mark.parametrize(
    "text",
    [
        '{"a":[0.12345678901234567891,"x",null,true],"ü":{"b":1}}',
        "12345678901234567890123",
        '"\\"\\n"',
        "1.50",
        "-0.0",
        "0.0",
        "[]",
        "{}",
    ],
)
def test_json_comes_back_with_all_digits(text):
    assert compact_json(exact_json(text)) == text


def test_zero_keeps_its_sign_and_has_any_exponent():
    assert exact_json("0e99999") == 0
    assert exact_json("-0.0").is_signed()
    assert exact_json("[1.5]") == [Decimal("1.5")]


@pytest.mark.parametrize(
    "text",
    ["1e9999999999999999999999", "1e401", "1e-401", "0." + "1" * 1_000, "NaN", "-Infinity", "{"],
    ids=lambda text: text[:20],
)
def test_what_is_no_number_of_json_or_too_large_is_refused(text):
    with pytest.raises(ValueError, match=r"too large|not JSON|property name"):
        exact_json(text)

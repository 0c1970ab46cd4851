"""DescribeClientQuotas and AlterClientQuotas over the wire."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey


def component(kind: str, match: int = 2) -> dict:
    return {"entity_type": kind, "match_type": match, "match": None}


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([component("user"), component("user")], ErrorCode.INVALID_REQUEST),
        ([component("planet")], ErrorCode.UNSUPPORTED_VERSION),
        ([component("user", 9)], ErrorCode.INVALID_REQUEST),
        ([component("ip"), component("user")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(ask, components: list, code: ErrorCode) -> None:
    answer = ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, {"components": components, "strict": True})
    assert (answer.error_code, answer.entries) == (code, None)


def entity(**parts: str | None) -> list[dict]:
    return [
        {"entity_type": kind.replace("_", "-"), "entity_name": name} for kind, name in parts.items()
    ]


def alter(ask, *entries: tuple[list, dict[str, float | None]], **fields) -> list[int]:
    rows = [
        {
            "entity": parts,
            "ops": [
                {"key": key, "value": value or 0.0, "remove": value is None}
                for key, value in quotas.items()
            ],
        }
        for parts, quotas in entries
    ]
    answer = ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, {"entries": rows, **fields})
    return [each.error_code for each in answer.entries]


def told(ask, *components: dict, broker: int = 0) -> list:
    fields = {"components": list(components), "strict": False}
    answer = ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, fields, broker=broker)
    assert answer.error_code == 0
    return [
        (
            {part.entity_type: part.entity_name for part in each.entity},
            {value.key: value.value for value in each.values},
        )
        for each in answer.entries
    ]


def test_quotas_are_kept_told_by_every_broker_and_removed(ask) -> None:
    ada, both = entity(user="ada"), entity(user="ada", client_id="x y")
    quotas = {"producer_byte_rate": 1000.0, "request_percentage": 12.5}
    assert alter(ask, (ada, quotas), (both, {"consumer_byte_rate": 1.0})) == [0, 0]
    expected = [
        ({"user": "ada"}, quotas),
        ({"user": "ada", "client-id": "x y"}, {"consumer_byte_rate": 1.0}),
    ]
    exact = {"entity_type": "user", "match_type": 0, "match": "ada"}
    for broker in (0, 1):
        assert told(ask, exact, broker=broker) == expected
    assert alter(ask, (ada, {"producer_byte_rate": None, "request_percentage": None})) == [0]
    assert told(ask, component("user")) == expected[1:]
    assert alter(ask, (both, {"consumer_byte_rate": None})) == [0]
    assert told(ask) == []


def test_each_entity_is_refused_for_itself_and_what_is_only_tried_is_not_kept(ask) -> None:
    rate = {"connection_creation_rate": 5.0}
    asked = [(each, rate) for each in (entity(ip="no ip"), entity(ip="::1"), entity(user="a"))]
    codes = alter(ask, *asked, validate_only=True)
    assert codes == [ErrorCode.INVALID_REQUEST, 0, ErrorCode.INVALID_REQUEST]
    assert told(ask) == []

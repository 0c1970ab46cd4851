"""DescribeClientQuotas and AlterClientQuotas over the wire."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey


def component(kind: str, match: int = 2) -> dict:
    return {"entity_type": kind, "match_type": match, "match": None}


@pytest.mark.parametrize("kinds", [[], ["user"], ["user", "client-id"], ["ip"]])
def test_there_are_no_quotas(ask, kinds: list[str]) -> None:
    fields = {"components": [component(kind) for kind in kinds], "strict": False}
    answer = ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, fields)
    assert (answer.error_code, answer.entries) == (0, ())


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


def test_setting_a_quota_is_refused_in_words(ask) -> None:
    entry = {
        "entity": [{"entity_type": "user", "entity_name": None}],
        "ops": [{"key": "producer_byte_rate", "value": 1.0, "remove": False}],
    }
    (answer,) = ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, {"entries": [entry]}).entries
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert "quotas" in answer.error_message
    assert [(part.entity_type, part.entity_name) for part in answer.entity] == [("user", None)]

"""SCRAM credentials over the wire."""

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey


def codes(results: tuple) -> list[tuple[str, ErrorCode]]:
    return [(each.user, ErrorCode(int(each.error_code))) for each in results]


def test_nobody_has_credentials(ask) -> None:
    answer = ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": None})
    assert (answer.error_code, answer.results) == (0, ())


def test_a_user_asked_for_is_not_found_and_one_asked_for_twice_is_refused(ask) -> None:
    users = [{"name": "ada"}, {"name": "bob"}, {"name": "bob"}]
    answer = ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": users})
    assert codes(answer.results) == [
        ("ada", ErrorCode.RESOURCE_NOT_FOUND),
        ("bob", ErrorCode.DUPLICATE_RESOURCE),
    ]


def test_there_is_nothing_to_delete_and_nothing_can_be_set(ask) -> None:
    fields = {
        "deletions": [{"name": "ada", "mechanism": 1}],
        "upsertions": [{"name": "bob", "mechanism": 1, "iterations": 4096,
                        "salt": b"s", "salted_password": b"p"}],
    }  # fmt: skip
    answer = ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, fields)
    assert codes(answer.results) == [
        ("ada", ErrorCode.RESOURCE_NOT_FOUND),
        ("bob", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
    ]

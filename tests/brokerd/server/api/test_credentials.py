"""SCRAM credentials over the wire."""

from typing import Any

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey


def codes(results: tuple) -> list[tuple[str, ErrorCode]]:
    return [(each.user, ErrorCode(int(each.error_code))) for each in results]


def upsertion(name: str, mechanism: int = 1, iterations: int = 4096) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism, "iterations": iterations, "salt": b"s",
            "salted_password": b"p"}  # fmt: skip


def test_nobody_has_credentials(ask) -> None:
    answer = ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": None})
    assert (answer.error_code, answer.results) == (0, ())


def test_a_user_asked_for_is_not_found(ask) -> None:
    users = [{"name": "ada"}, {"name": "bob"}]
    answer = ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": users})
    assert codes(answer.results) == [
        ("ada", ErrorCode.RESOURCE_NOT_FOUND),
        ("bob", ErrorCode.RESOURCE_NOT_FOUND),
    ]


def test_there_is_nothing_to_delete_and_nothing_can_be_set(ask_controller) -> None:
    fields = {"deletions": [{"name": "ada", "mechanism": 1}], "upsertions": [upsertion("bob")]}
    answer = ask_controller(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, fields)
    assert codes(answer.results) == [
        ("ada", ErrorCode.RESOURCE_NOT_FOUND),
        ("bob", ErrorCode.UNSUPPORTED_SASL_MECHANISM),
    ]
    assert "ssl.client.auth=required" in answer.results[1].error_message


def test_each_user_is_answered_once(ask_controller) -> None:
    changes = [{"name": "ada", "mechanism": number} for number in (1, 2)]
    fields = {"deletions": changes, "upsertions": [upsertion("bob", 1), upsertion("bob", 2)]}
    answer = ask_controller(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, fields)
    assert [user for user, _ in codes(answer.results)] == ["ada", "bob"]


def test_the_controller_alone_is_asked(ask_other) -> None:
    fields = {"deletions": [{"name": "ada", "mechanism": 1}], "upsertions": [upsertion("bob")]}
    answer = ask_other(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, fields)
    assert codes(answer.results) == [
        ("ada", ErrorCode.NOT_CONTROLLER),
        ("bob", ErrorCode.NOT_CONTROLLER),
    ]

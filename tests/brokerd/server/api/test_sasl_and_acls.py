"""SASL, ACLs, delegation tokens and SCRAM credentials over the wire, without users."""

from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from tests.support.brokerd import BrokerdCluster
from tests.support.wire import Wire

FILTER = {"resource_type_filter": 1, "operation": 1, "permission_type": 1}
BINDING = {"resource_type": 2, "resource_name": "t", "principal": "User:a", "host": "*",
           "operation": 3, "permission_type": 3}  # fmt: skip


@pytest.mark.parametrize("version", [1, 2, 3])
def test_acls_are_disabled(ask, version: int) -> None:
    described = ask(ApiKey.DESCRIBE_ACLS, version, FILTER)
    assert described.error_code == ErrorCode.SECURITY_DISABLED
    created = ask(ApiKey.CREATE_ACLS, version, {"creations": [BINDING, BINDING]})
    assert [each.error_code for each in created.results] == [ErrorCode.SECURITY_DISABLED] * 2
    deleted = ask(ApiKey.DELETE_ACLS, version, {"filters": [FILTER]})
    assert [each.error_code for each in deleted.filter_results] == [ErrorCode.SECURITY_DISABLED]


@pytest.mark.parametrize("key", [ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE])
def test_nobody_proves_who_they_are(ask, key: ApiKey) -> None:
    low, high = ADVERTISED[key]
    for version in range(low, high + 1):
        assert ask(key, version, {}).error_code == ErrorCode.ILLEGAL_SASL_STATE


@pytest.mark.parametrize(
    "key",
    [
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ],
)
def test_nobody_gets_a_token(brokers: BrokerdCluster, key: ApiKey) -> None:
    """Read from the bytes: kio takes no timestamp of -1."""
    low, high = ADVERTISED[key]
    with Wire(brokers.brokers[0].port) as wire:
        for version in range(low, high + 1):
            wire.request(key, version, {})
            start = 5 if version >= 2 else 4
            code = int.from_bytes(wire.frame()[start : start + 2], "big")
            assert code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


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

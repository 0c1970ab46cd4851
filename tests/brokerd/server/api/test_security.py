"""SASL, ACLs and delegation tokens over the wire, on a listener that knows no users."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.versions import ADVERTISED
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

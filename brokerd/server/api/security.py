"""SASL, ACLs and delegation tokens: what Kafka answers without an authorizer, on listeners that
know no users."""

from __future__ import annotations

from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.requests.context import Fields, Handler, RequestContext


def acls(context: RequestContext, request: Any) -> Fields:
    raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")


ANONYMOUS = {"principal_type": "User", "principal_name": "ANONYMOUS"}
"""Who everybody is on a listener that asks nobody."""

NO_TOKEN: Fields = {
    "error_code": int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
    **ANONYMOUS,
    **{f"token_requester_{name}": value for name, value in ANONYMOUS.items()},
    "issue_timestamp": None,
    "expiry_timestamp": None,
    "max_timestamp": None,
}


def create_delegation_token(context: RequestContext, request: Any) -> Fields:
    return NO_TOKEN


def change_delegation_token(context: RequestContext, request: Any) -> Fields:
    """RenewDelegationToken, ExpireDelegationToken: there are no tokens."""
    return {name: NO_TOKEN[name] for name in ("error_code", "expiry_timestamp")}


def describe_delegation_token(context: RequestContext, request: Any) -> Fields:
    return {"error_code": NO_TOKEN["error_code"]}


def sasl(context: RequestContext, request: Any) -> Fields:
    """A listener without SASL does not authenticate."""
    raise KafkaError(
        ErrorCode.ILLEGAL_SASL_STATE, "This listener has no SASL: send requests at once."
    )


HANDLERS: dict[int, Handler] = {
    ApiKey.SASL_HANDSHAKE: sasl,
    ApiKey.SASL_AUTHENTICATE: sasl,
    ApiKey.DESCRIBE_ACLS: acls,
    ApiKey.CREATE_ACLS: acls,
    ApiKey.DELETE_ACLS: acls,
    ApiKey.CREATE_DELEGATION_TOKEN: create_delegation_token,
    ApiKey.RENEW_DELEGATION_TOKEN: change_delegation_token,
    ApiKey.EXPIRE_DELEGATION_TOKEN: change_delegation_token,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: describe_delegation_token,
}

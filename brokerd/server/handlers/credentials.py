"""DescribeUserScramCredentials, AlterUserScramCredentials: no user has credentials yet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


def describe_user_scram_credentials(
    broker: Broker, context: RequestContext, request: Any
) -> Fields:
    """Of all users: none. Of those asked for: that they have none."""
    counts = Counter(user.name for user in request.users or ())
    results = []
    for name, number in counts.items():
        if number > 1:
            code = ErrorCode.DUPLICATE_RESOURCE
            message = (
                f"Cannot describe SCRAM credentials for the same user twice in a single request: "
                f"{name}"
            )
        else:
            code = ErrorCode.RESOURCE_NOT_FOUND
            message = f"Attempt to describe a user credential that does not exist: {name}"
        results.append(_result(name, code, message))
    return {"error_code": 0, "error_message": None, "results": results}


def alter_user_scram_credentials(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """There is nothing to delete, and nothing can be set."""
    results: dict[str, Fields] = {}
    for user in request.deletions:
        message = "Attempt to delete a user credential that does not exist"
        results[user.name] = _result(user.name, ErrorCode.RESOURCE_NOT_FOUND, message)
    for user in request.upsertions:
        message = "SCRAM credentials are not served by this broker yet."
        results[user.name] = _result(user.name, ErrorCode.UNSUPPORTED_SASL_MECHANISM, message)
    return {"results": list(results.values())}


def _result(user: str, code: ErrorCode, message: str) -> Fields:
    return {"user": user, "error_code": int(code), "error_message": message}


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: describe_user_scram_credentials,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: alter_user_scram_credentials,
}

"""DescribeUserScramCredentials, AlterUserScramCredentials: no user has credentials yet.

What Kafka refuses (ZkAdminManager) is refused with its error and words; what it would do is not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker

_MECHANISMS = (1, 2)
_ITERATIONS_MIN, _ITERATIONS_MAX = 4096, 16384
_NO_NAME = "Username must not be empty"
_TWICE = "A user credential cannot be altered twice in the same request"
_NOT_THERE = "Attempt to delete a user credential that does not exist"
_NOT_YET = (
    "This broker keeps no SCRAM credentials, since none of its listeners has SASL yet. Clients can"
    " be let in by their certificates: ssl.client.auth=required on an SSL listener"
)


def describe_user_scram_credentials(
    broker: Broker, context: RequestContext, request: Any
) -> Fields:
    """Of all users: none. Of those asked for: that they have none."""
    counts = Counter(user.name for user in request.users or ())
    results = []
    for name, number in counts.items():
        code, message = ErrorCode.RESOURCE_NOT_FOUND, _NO_NAME
        if name and number > 1:
            code = ErrorCode.DUPLICATE_RESOURCE
            message = (
                f"Cannot describe SCRAM credentials for the same user twice in a single request: "
                f"{name}"
            )
        elif name:
            message = f"Attempt to describe a user credential that does not exist: {name}"
        results.append(_result(name, KafkaError(code, message)))
    return {"error_code": 0, "error_message": None, "results": results}


def alter_user_scram_credentials(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """There is nothing to delete, and nothing can be set: a user's first error is told."""
    changes = (*request.deletions, *request.upsertions)
    if not broker.cluster.is_controller:
        error = KafkaError(ErrorCode.NOT_CONTROLLER, "This is not the controller of the cluster.")
        users = dict.fromkeys(each.name for each in changes)
        return {"results": [_result(name, error) for name in users]}
    errors: dict[str, KafkaError] = {}
    for each in changes:
        malformed = _malformed(each)
        if malformed is not None:
            errors.setdefault(each.name, malformed)
    for (name, _), number in Counter((each.name, each.mechanism) for each in changes).items():
        if number > 1:
            errors.setdefault(name, KafkaError(ErrorCode.DUPLICATE_RESOURCE, _TWICE))
    for each in request.deletions:
        errors.setdefault(each.name, KafkaError(ErrorCode.RESOURCE_NOT_FOUND, _NOT_THERE))
    for each in request.upsertions:
        errors.setdefault(each.name, KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, _NOT_YET))
    return {"results": [_result(name, error) for name, error in errors.items()]}


def _malformed(change: Any) -> KafkaError | None:
    """What is wrong with one deletion or upsertion by itself."""
    if not change.name:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, _NO_NAME)
    if change.mechanism not in _MECHANISMS:
        return KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    iterations = getattr(change, "iterations", _ITERATIONS_MIN)
    if _ITERATIONS_MIN <= iterations <= _ITERATIONS_MAX:
        return None
    amount = "few" if iterations < _ITERATIONS_MIN else "many"
    return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, f"Too {amount} iterations")


def _result(user: str, error: KafkaError) -> Fields:
    return {"user": user, "error_code": int(error.code), "error_message": str(error)}


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: describe_user_scram_credentials,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: alter_user_scram_credentials,
}

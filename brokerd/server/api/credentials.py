"""DescribeUserScramCredentials, AlterUserScramCredentials: no user has credentials yet.

Requests that Kafka refuses (ZkAdminManager) get its error and message; others get an error, too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.requests.context import Fields, RequestContext
from brokerd.turns import in_turns

_MECHANISMS = (1, 2)
_ITERATIONS_MIN, _ITERATIONS_MAX = 4096, 16384
_NO_NAME = "Username must not be empty"
_DESCRIBED_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request: "
_TWICE = "A user credential cannot be altered twice in the same request"
_NOT_THERE = "Attempt to delete a user credential that does not exist"
_NOT_YET = (
    "This broker keeps no SCRAM credentials, since none of its listeners has SASL yet. Clients can"
    " be let in by their certificates: ssl.client.auth=required on an SSL listener"
)


@dataclass(frozen=True, slots=True)
class CredentialHandlers:
    cluster: BrokerLifecycle

    async def describe_user_scram_credentials(
        self, context: RequestContext, request: Any
    ) -> Fields:
        """Of all users: none. Of those asked for: that they have none."""
        results: list[Fields] = []

        def answer(counted: tuple[str, int]) -> None:
            name, number = counted
            code, message = ErrorCode.RESOURCE_NOT_FOUND, _NO_NAME
            if name and number > 1:
                code = ErrorCode.DUPLICATE_RESOURCE
                message = _DESCRIBED_TWICE + name
            elif name:
                message = f"Attempt to describe a user credential that does not exist: {name}"
            results.append(_result(name, KafkaError(code, message)))

        counts = Counter(user.name for user in request.users or ())
        await in_turns(counts.items(), answer)
        return {"error_code": 0, "error_message": None, "results": results}

    async def alter_user_scram_credentials(self, context: RequestContext, request: Any) -> Fields:
        """No credential can be set, and there is none to delete: each user gets an error."""
        changes = (*request.deletions, *request.upsertions)
        errors: dict[str, KafkaError] = {}
        try:
            self.cluster.require_controller()
            await _find_errors(errors, changes, request.deletions)
        except KafkaError as error:
            errors = dict.fromkeys((each.name for each in changes), error.alone())
        results: list[Fields] = []
        await in_turns(errors.items(), lambda error: results.append(_result(*error)))
        return {"results": results}


async def _find_errors(
    errors: dict[str, KafkaError], changes: Sequence[Any], deletions: Sequence[Any]
) -> None:
    """The first error of each user."""

    def note_malformed(change: Any) -> None:
        malformed = _malformed(change)
        if malformed is not None:
            errors.setdefault(change.name, malformed)

    def note_twice(counted: tuple[tuple[str, int], int]) -> None:
        (name, _), number = counted
        if number > 1:
            errors.setdefault(name, KafkaError(ErrorCode.DUPLICATE_RESOURCE, _TWICE))

    await in_turns(changes, note_malformed)
    counts = Counter((each.name, each.mechanism) for each in changes)
    await in_turns(counts.items(), note_twice)
    not_there = KafkaError(ErrorCode.RESOURCE_NOT_FOUND, _NOT_THERE)
    await in_turns(deletions, lambda each: errors.setdefault(each.name, not_there))
    not_yet = KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, _NOT_YET)
    await in_turns(changes[len(deletions) :], lambda each: errors.setdefault(each.name, not_yet))


def _malformed(change: Any) -> KafkaError | None:
    """What is wrong with one deletion or upsertion itself."""
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

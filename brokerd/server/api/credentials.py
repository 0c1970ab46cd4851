"""DescribeUserScramCredentials, AlterUserScramCredentials: no user has credentials yet."""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.requests.context import Fields, RequestContext
from brokerd.turns import in_turns

_NOT_THERE = KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "The user has no such credential.")
_NOT_YET = KafkaError(
    ErrorCode.UNSUPPORTED_SASL_MECHANISM,
    "This broker keeps no SCRAM credentials, since none of its listeners has SASL yet. Clients can"
    " be let in by their certificates: ssl.client.auth=required on an SSL listener",
)


@dataclass(frozen=True, slots=True)
class CredentialHandlers:
    cluster: BrokerLifecycle

    async def describe_user_scram_credentials(
        self, context: RequestContext, request: Any
    ) -> Fields:
        """Of all users: none. Of those asked for: that they have none."""
        results = await _results({user.name: _NOT_THERE for user in request.users or ()})
        return {"error_code": 0, "error_message": None, "results": results}

    async def alter_user_scram_credentials(self, context: RequestContext, request: Any) -> Fields:
        """No credential can be set, and there is none to delete: each user gets an error."""
        deletion, upsertion = _NOT_THERE, _NOT_YET
        try:
            self.cluster.require_controller()
        except KafkaError as error:
            deletion = upsertion = error.alone()
        errors = {each.name: deletion for each in request.deletions}
        errors |= {each.name: upsertion for each in request.upsertions}
        return {"results": await _results(errors)}


async def _results(errors: dict[str, KafkaError]) -> list[Fields]:
    results: list[Fields] = []

    def add(each: tuple[str, KafkaError]) -> None:
        user, error = each
        code, message = int(error.code), error.message
        results.append({"user": user, "error_code": code, "error_message": message})

    await in_turns(errors.items(), add)
    return results

"""SASL, ACLs, delegation tokens and SCRAM credentials: what Kafka answers without an authorizer, on
listeners that know no users."""

from dataclasses import dataclass
from typing import Any, NoReturn

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import map_in_turns
from brokerd.server.requests.request_context import Fields, RequestContext, error_part

_NO_TOKEN = int(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
_NO_CREDENTIAL = KafkaError(
    ErrorCode.RESOURCE_NOT_FOUND,
    "Attempt to describe or delete a user credential that does not exist",
)
_NOT_KEPT = KafkaError(
    ErrorCode.UNSUPPORTED_SASL_MECHANISM,
    "This broker keeps no SCRAM credentials, since none of its listeners has SASL yet. Clients can"
    " be let in by their certificates: ssl.client.auth=required on an SSL listener",
)


@dataclass(frozen=True, slots=True)
class SecurityHandlers:
    cluster: BrokerLifecycle

    def sasl_handshake(self, context: RequestContext, request: Any) -> NoReturn:
        message = "This listener has no SASL: send requests at once."
        raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE, message)

    sasl_authenticate = sasl_handshake

    def describe_acls(self, context: RequestContext, request: Any) -> NoReturn:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")

    create_acls = delete_acls = describe_acls

    def create_delegation_token(self, context: RequestContext, request: Any) -> Fields:
        nobody = {"principal_type": "User", "principal_name": "ANONYMOUS"}
        requester = {f"token_requester_{name}": value for name, value in nobody.items()}
        times = dict.fromkeys(("issue_timestamp", "expiry_timestamp", "max_timestamp"))
        return {"error_code": _NO_TOKEN, **nobody, **requester, **times}

    def renew_delegation_token(self, context: RequestContext, request: Any) -> Fields:
        return {"error_code": _NO_TOKEN, "expiry_timestamp": None}

    expire_delegation_token = renew_delegation_token

    def describe_delegation_token(self, context: RequestContext, request: Any) -> Fields:
        return {"error_code": _NO_TOKEN}

    async def describe_user_scram_credentials(
        self, context: RequestContext, request: Any
    ) -> Fields:
        """Of all users: none. Of those asked for: that they have none."""
        errors = {user.name: _NO_CREDENTIAL for user in request.users or ()}
        return {**error_part(), "results": await map_in_turns(errors.items(), _result)}

    async def alter_user_scram_credentials(self, context: RequestContext, request: Any) -> Fields:
        """No credential can be set, and there is none to delete: each user gets an error."""
        deletion, upsertion = _NO_CREDENTIAL, _NOT_KEPT
        try:
            self.cluster.require_controller()
        except KafkaError as error:
            deletion = upsertion = error.without_frames()
        errors = {each.name: deletion for each in request.deletions}
        errors |= {each.name: upsertion for each in request.upsertions}
        return {"results": await map_in_turns(errors.items(), _result)}


def _result(refused: tuple[str, KafkaError]) -> Fields:
    user, error = refused
    return {"user": user, **error_part(error)}

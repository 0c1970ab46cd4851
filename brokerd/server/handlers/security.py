"""SASL, ACLs and delegation tokens on listeners that know no users: what Kafka answers there.

Without an authorizer ACLs are disabled; on a plaintext listener everybody has been let in already
and nobody may have a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


def acls(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """There is no authorizer that could have any."""
    raise KafkaError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")


def delegation_tokens(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """They are for users that have proved who they are."""
    raise KafkaError(
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        "Delegation tokens need a listener with SASL.",
    )


def sasl(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """A connection to a listener without SASL has nothing to prove."""
    raise KafkaError(
        ErrorCode.ILLEGAL_SASL_STATE, "This listener has no SASL: send requests at once."
    )


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.SASL_HANDSHAKE: sasl,
    ApiKey.SASL_AUTHENTICATE: sasl,
    ApiKey.DESCRIBE_ACLS: acls,
    ApiKey.CREATE_ACLS: acls,
    ApiKey.DELETE_ACLS: acls,
    ApiKey.CREATE_DELEGATION_TOKEN: delegation_tokens,
    ApiKey.RENEW_DELEGATION_TOKEN: delegation_tokens,
    ApiKey.EXPIRE_DELEGATION_TOKEN: delegation_tokens,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: delegation_tokens,
}

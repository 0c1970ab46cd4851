"""DescribeClientQuotas, AlterClientQuotas: there are no quotas, and none can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker

ENTITY_TYPES = ("user", "client-id", "ip")
MATCH_TYPES = (0, 1, 2)


def describe_client_quotas(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """No entries; a filter that makes no sense is refused as Kafka refuses it."""
    try:
        _check_filter(request.components)
    except KafkaError as error:
        return {
            "error_code": int(error.code),
            "error_message": error.message,
            "entries": None,
        }
    return {"error_code": 0, "error_message": None, "entries": ()}


def _check_filter(components: tuple[Any, ...]) -> None:
    seen: set[str] = set()
    for each in components:
        kind = each.entity_type
        if kind in seen:
            message = f"Duplicate filter component entity type: {kind}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if kind not in ENTITY_TYPES:
            message = f"Custom entity type '{kind}' not supported"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        if each.match_type not in MATCH_TYPES:
            message = f"Unexpected match type: {each.match_type}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        seen.add(kind)
    if "ip" in seen and len(seen) > 1:
        message = "Invalid entity filter component combination: ip with user or client-id"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def alter_client_quotas(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Each entry is refused."""
    return {
        "entries": [
            {
                "error_code": int(ErrorCode.UNSUPPORTED_VERSION),
                "error_message": "Client quotas are not served by this broker yet.",
                "entity": [
                    {"entity_type": part.entity_type, "entity_name": part.entity_name}
                    for part in entry.entity
                ],
            }
            for entry in request.entries
        ]
    }


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.DESCRIBE_CLIENT_QUOTAS: describe_client_quotas,
    ApiKey.ALTER_CLIENT_QUOTAS: alter_client_quotas,
}

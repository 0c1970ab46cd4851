"""InitProducerId: an id of its own for each idempotent producer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


async def init_producer_id(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """A fresh id with epoch 0; a transactional id is refused until transactions are served."""
    if request.transactional_id is not None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "transactions are not served yet")
    return {
        "error_code": 0,
        "producer_id": await broker.producer_ids.next_id(),
        "producer_epoch": 0,
    }


HANDLERS: dict[ApiKey, ColdHandler] = {ApiKey.INIT_PRODUCER_ID: init_producer_id}

"""InitProducerId: an id of its own for each idempotent producer.

Transactions are not served yet. A producer that wants them is told
TRANSACTIONAL_ID_AUTHORIZATION_FAILED, here and where it asks for their coordinator: it is the one
error that every client takes for final. librdkafka would ask again, until its user's time is up,
after any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


NO_TRANSACTIONS = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


async def init_producer_id(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """A fresh id with epoch 0; a transactional id is refused until transactions are served."""
    if request.transactional_id is not None:
        raise KafkaError(NO_TRANSACTIONS, "transactions are not served yet")
    return {
        "error_code": 0,
        "producer_id": await broker.producer_ids.next_id(),
        "producer_epoch": 0,
    }


HANDLERS: dict[ApiKey, ColdHandler] = {ApiKey.INIT_PRODUCER_ID: init_producer_id}

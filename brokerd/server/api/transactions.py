"""The APIs of transactions: refused, as in `producers`; lists of transactions are empty."""

from __future__ import annotations

from typing import Any

from brokerd.coordinator.transaction.records import STATES
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.api.producers import NO_TRANSACTIONS
from brokerd.server.requests.context import Fields, Handler, RequestContext


def refuse(context: RequestContext, request: Any) -> Fields:
    """AddOffsetsToTxn, EndTxn, TxnOffsetCommit."""
    raise KafkaError(NO_TRANSACTIONS, "transactions are not served yet")


def add_partitions_to_txn(context: RequestContext, request: Any) -> Fields:
    """Its errors have names of their own, so that nobody else can put them there."""
    return {
        "results_by_topic_v3_and_below": [
            {
                "name": topic.name,
                "results_by_partition": [
                    {"partition_index": index, "partition_error_code": int(NO_TRANSACTIONS)}
                    for index in topic.partitions
                ],
            }
            for topic in request.v3_and_below_topics
        ]
    }


def describe_transactions(context: RequestContext, request: Any) -> Fields:
    return {
        "transaction_states": [
            {
                "error_code": int(
                    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
                    if transactional_id
                    else ErrorCode.INVALID_REQUEST
                ),
                "transactional_id": transactional_id,
            }
            for transactional_id in request.transactional_ids
        ]
    }


def list_transactions(context: RequestContext, request: Any) -> Fields:
    """There are none; unknown states of the filter are returned."""
    unknown = [state for state in request.state_filters if state not in STATES]
    return {"error_code": 0, "unknown_state_filters": unknown, "transaction_states": ()}


HANDLERS: dict[int, Handler] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: refuse,
    ApiKey.END_TXN: refuse,
    ApiKey.TXN_OFFSET_COMMIT: refuse,
    ApiKey.DESCRIBE_TRANSACTIONS: describe_transactions,
    ApiKey.LIST_TRANSACTIONS: list_transactions,
}

"""The APIs of transactions: all refused (why: see `producers`); lists of transactions are empty."""

from typing import Any, NoReturn

from brokerd.coordinator.transaction.transaction_log import STATES
from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.api.producers import NO_TRANSACTIONS
from brokerd.server.requests.request_context import Fields, RequestContext


class TransactionHandlers:
    def add_offsets_to_txn(self, context: RequestContext, request: Any) -> NoReturn:
        raise KafkaError(NO_TRANSACTIONS, "transactions are not served yet")

    end_txn = txn_offset_commit = add_offsets_to_txn

    def add_partitions_to_txn(self, context: RequestContext, request: Any) -> Fields:
        """Sets the error itself: in this API, `error_responses` does not know the error's field."""
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

    def describe_transactions(self, context: RequestContext, request: Any) -> Fields:
        unknown, empty = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, ErrorCode.INVALID_REQUEST
        states = [
            {"error_code": int(unknown if each else empty), "transactional_id": each}
            for each in request.transactional_ids
        ]
        return {"transaction_states": states}

    def list_transactions(self, context: RequestContext, request: Any) -> Fields:
        """There are none; unknown states of the filter are returned."""
        unknown = [state for state in request.state_filters if state not in STATES]
        return {"error_code": 0, "unknown_state_filters": unknown, "transaction_states": ()}

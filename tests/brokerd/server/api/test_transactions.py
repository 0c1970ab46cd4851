"""The APIs of transactions over the wire: there are none, and none can be begun."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey

REFUSED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", [0, 3])
def test_no_step_of_a_transaction_is_taken(ask, version: int) -> None:
    for key in (ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN):
        assert ask(key, version, {"transactional_id": "x"}).error_code == REFUSED
    topics = [{"name": "t", "partitions": [0, 4]}]
    (topic,) = ask(
        ApiKey.ADD_PARTITIONS_TO_TXN, version, {"v3_and_below_topics": topics}
    ).results_by_topic_v3_and_below
    found = [(e.partition_index, e.partition_error_code) for e in topic.results_by_partition]
    assert found == [(0, REFUSED), (4, REFUSED)]
    offsets = [{"name": "t", "partitions": [{"partition_index": 3, "committed_offset": 1}]}]
    (topic,) = ask(ApiKey.TXN_OFFSET_COMMIT, version, {"topics": offsets}).topics
    (row,) = topic.partitions
    assert (topic.name, row.partition_index, row.error_code) == ("t", 3, REFUSED)


def test_there_are_no_transactions_to_be_told_of(ask) -> None:
    fields = {"state_filters": ["Ongoing", "Wobbly"], "producer_id_filters": []}
    listed = ask(ApiKey.LIST_TRANSACTIONS, 1, {**fields, "duration_filter": -1})
    assert (listed.error_code, listed.transaction_states) == (0, ())
    assert listed.unknown_state_filters == ("Wobbly",)
    (described,) = ask(
        ApiKey.DESCRIBE_TRANSACTIONS, 0, {"transactional_ids": ["x"]}
    ).transaction_states
    assert described.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert described.transactional_id == "x"

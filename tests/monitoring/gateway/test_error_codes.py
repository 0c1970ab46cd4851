import pytest
from confluent_kafka import KafkaError

from brokerd.errors import ErrorCode
from brokerd.protocol import messages
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import error_codes
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, NotFound, Refused
from monitoring.gateway.librdkafka.error_mapping import (
    gateway_error_of,
    gateway_error_of_group_change,
)
from monitoring.gateway.reassignment_requests import Reassignments
from monitoring.gateway.wire import metadata
from monitoring.gateway.wire import reassignments as wire
from tests.monitoring.gateway.wire.answers import metadata_answer
from tests.support.hostile_broker import hostile_broker


@pytest.mark.parametrize("code", [each for each in ErrorCode if each > 0])
def test_both_clients_raise_the_same_for_a_code(code):
    own, other = error_codes.exception_of(code), gateway_error_of(KafkaError(int(code)))
    assert (type(own), own.retriable) == (type(other), other.retriable)
    own = error_codes.exception_of_group_change(code)
    other = gateway_error_of_group_change(KafkaError(int(code)))
    assert (type(own), own.retriable) == (type(other), other.retriable)


def test_without_an_error_nothing_is_raised_and_with_one_what_the_broker_says():
    error_codes.raise_if_error(0, "ignored")
    with pytest.raises(Refused, match=r"^no such broker\?$"):
        error_codes.raise_if_error(ErrorCode.INVALID_CONFIG, "no such broker\0")
    assert "error 7" in error_codes.exception_of(ErrorCode.REQUEST_TIMED_OUT).message


def test_a_topic_that_was_deleted_is_said_in_words():
    error = error_codes.exception_of(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert isinstance(error, NotFound)
    assert error.message == "the topic or partition does not exist any more"


def test_that_a_group_has_members_is_an_error_of_its_changes_only():
    code = ErrorCode.REBALANCE_IN_PROGRESS
    assert "has members" in error_codes.exception_of_group_change(code).message
    assert "has members" not in error_codes.exception_of(code).message


def test_a_broker_that_is_no_longer_the_controller_is_asked_again_later():
    fields = {
        "throttle_time": 0,
        "error_code": int(ErrorCode.NOT_CONTROLLER),
        "error_message": None,
        "responses": [],
    }
    header_tags = b"\0"
    refused = header_tags + messages.encode_response(wire.ALTER_KEY, wire.ALTER_VERSION, fields)
    topics = {"a": {0: (1, (1,), (1,))}}

    def known(port: int) -> bytes:
        return metadata_answer(topics, (1,), 1, ("127.0.0.1", port), metadata.WITH_IDS)[4:]

    answers = {metadata.API_KEY: known, wire.ALTER_KEY: lambda _: refused}
    with hostile_broker(answers) as port:
        client = Reassignments(ClientSettings((("127.0.0.1", port),)))
        with pytest.raises(GatewayError) as caught:
            client.alter({("a", 0): (1,)})
    assert isinstance(caught.value, ClusterUnavailable)
    assert caught.value.retriable
    assert "error 41" in caught.value.message

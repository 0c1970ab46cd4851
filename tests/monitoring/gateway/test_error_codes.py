import pytest
from confluent_kafka import KafkaError

from brokerd.errors import ErrorCode
from monitoring.gateway.error_codes import raise_if_error
from monitoring.gateway.errors import ClusterUnavailable, Refused
from monitoring.gateway.librdkafka.error_mapping import translate


@pytest.mark.parametrize("code", [ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_COORDINATOR])
def test_what_ends_with_an_election_is_retriable_with_each_client(code):
    with pytest.raises(ClusterUnavailable) as raised:
        raise_if_error(code, "")
    assert raised.value.retriable
    assert isinstance(translate(KafkaError(code)), ClusterUnavailable)


def test_another_error_is_a_refusal_with_the_text_of_the_broker():
    with pytest.raises(Refused, match="the policy forbids it"):
        raise_if_error(ErrorCode.POLICY_VIOLATION, "the policy forbids it")
    with pytest.raises(Refused, match="44"):
        raise_if_error(ErrorCode.POLICY_VIOLATION, "")


def test_no_error_raises_nothing():
    raise_if_error(0, "")

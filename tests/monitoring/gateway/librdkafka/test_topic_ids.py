from confluent_kafka import Uuid

from monitoring.gateway.librdkafka.topic_calls import _topic_id


def test_the_id_of_a_topic_is_written_as_kafka_writes_it():
    # All bits set: base64 has only its 63rd character, which the alphabet for URLs replaces.
    assert _topic_id(Uuid(-1, -1)) == "_" * 21 + "w"
    assert "+" not in _topic_id(Uuid(-(1 << 58), 0))


def test_a_broker_without_topic_ids_has_none():
    assert _topic_id(Uuid(0, 0)) == ""
    assert _topic_id(None) == ""

"""Kafka's JSON: texts as Apache Kafka 3.9 writes them are read, and what is written is read
back."""

import json
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.cluster.zookeeper import zk_data
from brokerd.cluster.zookeeper.zk_data import Endpoint, NodeFormatError, ProducerIdBlock, TopicNode
from brokerd.replication.partition_state import PartitionState

_ids = st.integers(0, 2**31 - 1)
_replicas = st.dictionaries(
    st.integers(0, 9_999), st.lists(_ids, max_size=5).map(tuple), max_size=5
)


def test_a_registration_of_kafka_is_read() -> None:
    text = (
        b'{"features":{},"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT","IN":"SSL"},'
        b'"endpoints":["PLAINTEXT://host-1:9092","IN://[::1]:9093"],"jmx_port":-1,"port":9092,'
        b'"host":"host-1","rack":"r1","version":5,"timestamp":"1700000000000"}'
    )
    info = zk_data.decode_broker(7, text, 99)
    assert info.endpoints == {"PLAINTEXT": ("host-1", 9092), "IN": ("::1", 9093)}
    assert (info.id, info.rack, info.epoch) == (7, "r1", 99)


def test_a_registration_names_all_listeners_and_the_plain_one_for_old_readers() -> None:
    endpoints = (
        Endpoint(listener="IN", security_protocol="SSL", host="::1", port=9093),
        Endpoint(listener="OUT", security_protocol="PLAINTEXT", host="h", port=9092),
    )
    data = zk_data.encode_broker(endpoints, None, 1_700_000_000_000)
    value = json.loads(data)
    assert value == {
        "version": 5,
        "host": "h",
        "port": 9092,
        "jmx_port": -1,
        "timestamp": "1700000000000",
        "endpoints": ["IN://[::1]:9093", "OUT://h:9092"],
        "listener_security_protocol_map": {"IN": "SSL", "OUT": "PLAINTEXT"},
        "features": {},
    }
    assert zk_data.decode_broker(1, data, 5).endpoints == {
        "IN": ("::1", 9093),
        "OUT": ("h", 9092),
    }


def test_a_topic_of_kafka_is_read() -> None:
    text = (
        b'{"removing_replicas":{},"partitions":{"0":[1,2],"1":[2,3]},'
        b'"topic_id":"x9BsQV3xTWmRND6DI7MzGA","adding_replicas":{"1":[3]},"version":3}'
    )
    node = zk_data.decode_topic("t", text)
    assert node.replicas == {0: (1, 2), 1: (2, 3)}
    assert node.adding == {1: (3,)}
    assert node.topic_id == UUID("c7d06c41-5df1-4d69-9134-3e8323b33318")


def test_a_topic_from_before_topic_ids_has_none() -> None:
    node = zk_data.decode_topic("t", b'{"version":1,"partitions":{"0":[1]}}')
    assert node.topic_id is None


@given(st.uuids(), _replicas, _replicas, _replicas)
def test_a_topic_comes_back_as_it_was_written(topic_id, replicas, adding, removing) -> None:
    node = TopicNode(topic_id=topic_id, replicas=replicas, adding=adding, removing=removing)
    assert zk_data.decode_topic("t", zk_data.encode_topic(node)) == node


@given(st.integers(-1, 2**31 - 1), _ids, st.lists(_ids, max_size=5).map(tuple), _ids)
def test_a_state_comes_back_as_it_was_written(leader, leader_epoch, isr, controller_epoch) -> None:
    state = PartitionState(
        topic="t",
        partition=0,
        topic_id=UUID(int=1),
        replicas=(1,),
        leader=leader,
        leader_epoch=leader_epoch,
        isr=isr,
        controller_epoch=controller_epoch,
        version=0,
    )
    data = zk_data.encode_partition_state(state)
    node = TopicNode(topic_id=UUID(int=1), replicas={0: (1,)})
    assert zk_data.decode_partition_state("t", 0, node, data, 0) == replace(state, is_new=True)


def test_a_state_is_written_with_the_keys_of_kafka() -> None:
    state = PartitionState(
        topic="t",
        partition=0,
        topic_id=UUID(int=1),
        replicas=(1, 2),
        leader=1,
        leader_epoch=3,
        isr=(1, 2),
        controller_epoch=4,
        version=0,
    )
    assert json.loads(zk_data.encode_partition_state(state)) == {
        "version": 1,
        "leader": 1,
        "leader_epoch": 3,
        "controller_epoch": 4,
        "isr": [1, 2],
    }


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=5))
def test_a_config_comes_back_as_it_was_written(config) -> None:
    assert zk_data.decode_config("/config/topics/t", zk_data.encode_config(config)) == config


def test_an_empty_config_node_is_an_empty_config() -> None:
    assert zk_data.decode_config("/config/topics/t", b"") == {}


def test_a_producer_id_block_of_kafka_is_read_and_written() -> None:
    text = b'{"version":1,"broker":2,"block_start":"1000","block_end":"1999"}'
    block = ProducerIdBlock(broker_id=2, first=1000, last=1999)
    assert zk_data.decode_producer_id_block(text) == block
    assert zk_data.encode_producer_id_block(block) == text
    assert zk_data.decode_producer_id_block(b"") is None


def test_controller_cluster_id_and_config_change_are_those_of_kafka() -> None:
    assert json.loads(zk_data.encode_controller(3, 17)) == {
        "version": 2,
        "brokerid": 3,
        "timestamp": "17",
        "kraftControllerEpoch": -1,
    }
    assert zk_data.decode_controller(b'{"version":1,"brokerid":3,"timestamp":"1"}') == 3
    assert zk_data.decode_controller_epoch(b"12") == 12
    assert json.loads(zk_data.encode_cluster_id("abc")) == {"version": "1", "id": "abc"}
    assert zk_data.decode_cluster_id(b'{"version":"1","id":"abc"}') == "abc"
    assert zk_data.encode_config_change("topics/t") == b'{"version":2,"entity_path":"topics/t"}'
    assert zk_data.decode_config_change(b'{"version":2,"entity_path":"topics/t"}') == "topics/t"
    of_old = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert zk_data.decode_config_change(of_old) == "topics/t"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"partitions":[1]}', b'{"partitions":{"a":[1]}}', b"\xff"]
)
def test_a_node_that_is_no_topic_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(NodeFormatError, match="topic t is not readable"):
        zk_data.decode_topic("t", data)

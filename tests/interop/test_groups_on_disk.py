"""What groups leave on disk, read by Apache Kafka's own tool."""

from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC, partition_for
from tests.support.brokerd import BrokerdCluster
from tests.support.group_members import ConfluentMember
from tests.support.kafka_tools import kafka
from tests.support.zookeeper import ZooKeeper

TOPIC, GROUP = "numbers", "readers"
GROUP_KEY = '{"type":"2","data":{"group":"readers"}}'
OFFSET_KEY = '{"type":"1","data":{"group":"readers","topic":"numbers","partition":0}}'


@pytest.mark.kafka
def test_apache_kafka_decodes_offsets_and_groups(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    connect = zookeeper.connect("/groups-on-disk")
    with BrokerdCluster.started(tmp_path, connect) as cluster:
        bootstrap = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        producer = Producer({"bootstrap.servers": bootstrap})
        for value in range(10):
            producer.produce(TOPIC, str(value))
        assert producer.flush(30) == 0
        with ConfluentMember(bootstrap, GROUP, TOPIC, **{"client.id": "reader"}) as member:
            member.got(10)
        admin.delete_consumer_groups([GROUP])[GROUP].result(30)
        cluster.stop()
        partition = f"{OFFSETS_TOPIC}-{partition_for(GROUP, 8)}"
        segment = cluster.brokers[0].logs / partition / f"{0:020}.log"
        said = kafka("dump-log", "--offsets-decoder", "--files", segment).ok()
    records = [line.split(" key: ")[1] for line in said.lines if " key: " in line]
    assert len(records) == 5
    joined, committed, emptied, offset_gone, group_gone = records
    assert joined.startswith(GROUP_KEY)
    for part in (
        '"generation":1',
        '"clientId":"reader"',
        '"topics":["numbers"]',
        '"partitions":[0]',
    ):
        assert part in joined
    assert committed.startswith(OFFSET_KEY)
    assert '{"version":"3","data":{"offset":10,"leaderEpoch":0,"metadata":""' in committed
    assert emptied.startswith(GROUP_KEY)
    assert '"members":[]' in emptied
    assert offset_gone == OFFSET_KEY + " payload: <DELETE>"
    assert group_gone == GROUP_KEY + " payload: <DELETE>"

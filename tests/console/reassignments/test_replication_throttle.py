from console.reassignments import replication_throttle
from console.reassignments.moves import Move


def test_the_throttle_names_sources_and_targets_as_kafka_does():
    changed = [Move("orders", 0, (1, 2), (2, 3)), Move("orders", 1, (1, 2), (2, 1))]
    assert replication_throttle.throttled_replicas(changed) == {
        "orders": {
            replication_throttle.LEADER_REPLICAS: "0:1,0:2",
            replication_throttle.FOLLOWER_REPLICAS: "0:3",
        }
    }
    assert replication_throttle.throttled_brokers(changed) == [1, 2, 3]

from monitoring.clusters.models import parse_addresses
from monitoring.gateway.zookeeper_server_states import ZooKeeper


def test_a_server_that_answers_is_up(live_cluster):
    connect = live_cluster.row().zookeeper_connect
    [server] = ZooKeeper(parse_addresses(connect.partition("/")[0])).server_states()
    assert server.up


def test_a_server_that_does_not_answer_is_down():
    [server] = ZooKeeper([("127.0.0.1", 1)]).server_states()
    assert not server.up


def test_a_cluster_without_zookeeper_shows_none():
    assert ZooKeeper([]).server_states() == []

from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


def test_a_server_that_answers_is_up_with_its_mode(live_cluster):
    [server] = for_cluster(live_cluster.row()).zookeeper.server_states()
    assert (server.up, server.mode) == (True, "standalone")
    assert server.version


def test_a_server_that_does_not_answer_is_down():
    row = Cluster(slug="x", bootstrap_servers="127.0.0.1:1", zookeeper_connect="127.0.0.1:1/a")
    [server] = for_cluster(row).zookeeper.server_states()
    assert (server.up, server.mode) == (False, None)


def test_a_cluster_without_zookeeper_shows_none():
    assert (
        for_cluster(Cluster(slug="x", bootstrap_servers="127.0.0.1:1")).zookeeper.server_states()
        == []
    )

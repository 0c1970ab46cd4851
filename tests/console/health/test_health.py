from tests.console.conftest import sample


def test_healthz_needs_no_other_service(client):
    assert client.get("/healthz").content == b"ok\n"


def test_metrics_contain_the_age_of_each_clusters_sample_and_no_other_names(client, sampled):
    number = sample("local")
    text = client.get("/metrics").content.decode()
    assert 'aerie_sample_up{cluster="local"} 1' in text
    assert f'aerie_sample_timestamp_seconds{{cluster="local"}} {number * 5 + 0.04}' in text
    assert "orders" not in text
    assert "billing" not in text


def test_metrics_answer_while_redis_is_down(client, clusters, redis_server):
    redis_server.kill()
    assert 'aerie_sample_up{cluster="local"} 0' in client.get("/metrics").content.decode()

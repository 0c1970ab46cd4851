from monitoring.pipeline import cluster_lock

KEY = "aerie:pipeline:local"


def test_one_process_at_a_time_has_it(redis_server):
    with cluster_lock.held("local") as first, cluster_lock.held("local") as second:
        assert (first, second) == (True, False)
    with cluster_lock.held("local") as again:
        assert again


def test_each_cluster_has_its_own(redis_server):
    with cluster_lock.held("local") as first, cluster_lock.held("other") as second:
        assert first
        assert second


def test_it_is_renewed_while_it_is_held(redis_server, monkeypatch):
    monkeypatch.setattr(cluster_lock, "_RENEW_S", 0.01)
    client = redis_server.client()
    with cluster_lock.held("local"):
        client.pexpire(KEY, 10_000)
        while client.pttl(KEY) <= 10_000:
            pass


def test_it_is_free_soon_after_its_holder_was_killed(redis_server):
    with cluster_lock.held("local"):
        assert 0 < redis_server.client().pttl(KEY) <= 20_000


def test_its_last_sign_of_life_is_known(redis_server, monkeypatch):
    monkeypatch.setattr(cluster_lock, "_RENEW_S", 1000.0)
    assert cluster_lock.silent_ms("local") is None
    with cluster_lock.held("local"):
        redis_server.client().pexpire(KEY, 5_000)
        assert cluster_lock.silent_ms("local") >= 15_000


def test_who_waits_gets_it_when_it_is_free(redis_server, monkeypatch):
    client = redis_server.client()
    client.set(KEY, "another")
    monkeypatch.setattr(cluster_lock.time, "sleep", lambda _: client.delete(KEY))
    with cluster_lock.held("local", wait_s=600) as is_held:
        assert is_held

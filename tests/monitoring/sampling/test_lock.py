from monitoring.sampling.lock import single_flight


def test_one_worker_samples_and_the_other_is_told_which_tick_it_is(redis_server):
    with single_flight("local", 7, 5000) as first:
        with single_flight("local", 8, 5000) as second:
            assert (first, second) == (None, 7)


def test_the_next_tick_may_run_after_it(redis_server):
    with single_flight("local", 7, 5000):
        pass
    with single_flight("local", 8, 5000) as holder:
        assert holder is None


def test_clusters_do_not_wait_for_each_other(redis_server):
    with single_flight("one", 7, 5000), single_flight("two", 7, 5000) as holder:
        assert holder is None


def test_a_lock_that_ran_out_is_not_taken_from_its_next_holder(redis_server):
    with single_flight("local", 7, 5000):
        redis_server.client().set("aerie:local:sampling", 8)
    assert redis_server.client().get("aerie:local:sampling") == b"8"


def test_a_worker_that_died_holds_it_no_longer_than_a_tick(redis_server):
    with single_flight("local", 7, 5000):
        assert 0 < redis_server.client().pttl("aerie:local:sampling") <= 5000

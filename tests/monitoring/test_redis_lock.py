from monitoring.redis_lock import try_lock

KEY = "aerie:tests:lock"


def test_one_holds_it_and_the_other_is_reported_who(redis_server):
    with try_lock(KEY, "7", 5000) as first, try_lock(KEY, "8", 5000) as second:
        assert (first, second) == (None, "7")


def test_the_next_may_have_it_after_that(redis_server):
    with try_lock(KEY, "7", 5000):
        pass
    with try_lock(KEY, "8", 5000) as holder:
        assert holder is None


def test_locks_do_not_wait_for_each_other(redis_server):
    with try_lock("aerie:one", "7", 5000), try_lock("aerie:two", "7", 5000) as holder:
        assert holder is None


def test_a_lock_that_ran_out_is_not_taken_from_its_next_holder(redis_server):
    with try_lock(KEY, "7", 5000):
        redis_server.client().set(KEY, "8")
    assert redis_server.client().get(KEY) == b"8"


def test_one_that_died_holds_it_no_longer_than_its_lifetime(redis_server):
    with try_lock(KEY, "7", 5000):
        assert 0 < redis_server.client().pttl(KEY) <= 5000


def test_what_was_done_under_it_stands_although_redis_went_away_meanwhile(redis_server):
    with try_lock(KEY, "7", 5000):
        redis_server.kill()
    redis_server.start()

from monitoring.redis_lock import try_lock

KEY = "aerie:tests:lock"


def test_a_second_process_gets_the_holders_name(redis_server):
    with try_lock(KEY, "7", 5000) as first, try_lock(KEY, "8", 5000) as second:
        assert (first, second) == (None, "7")


def test_a_lock_that_was_set_before_the_connection_was_lost_is_taken(redis_server):
    redis_server.client().set(KEY, "7")  # by the first SET, whose answer was lost
    with try_lock(KEY, "7", 5000) as other:
        assert other is None
    assert redis_server.client().get(KEY) is None


def test_the_lock_can_be_taken_after_a_release(redis_server):
    with try_lock(KEY, "7", 5000):
        pass
    with try_lock(KEY, "8", 5000) as holder:
        assert holder is None


def test_locks_of_different_keys_are_independent(redis_server):
    with try_lock("aerie:one", "7", 5000), try_lock("aerie:two", "7", 5000) as holder:
        assert holder is None


def test_an_expired_lock_is_not_released_for_its_next_holder(redis_server):
    with try_lock(KEY, "7", 5000):
        redis_server.client().set(KEY, "8")
    assert redis_server.client().get(KEY) == b"8"


def test_the_lock_of_a_dead_process_expires(redis_server):
    with try_lock(KEY, "7", 5000):
        assert 0 < redis_server.client().pttl(KEY) <= 5000


def test_an_outage_of_redis_at_the_release_raises_no_error(redis_server):
    with try_lock(KEY, "7", 5000):
        redis_server.kill()
    redis_server.start()

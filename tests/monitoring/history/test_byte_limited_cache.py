"""The cache with a limit in bytes."""

import pytest

from monitoring.history.byte_limited_cache import ByteLimitedCache


def never():
    raise AssertionError("the value is in the cache")


def test_a_value_is_made_once():
    cache = ByteLimitedCache(100)
    assert cache.get("a", lambda: (1, 50)) == 1
    assert cache.get("a", never) == 1


def test_what_was_not_used_for_longest_goes_first():
    cache = ByteLimitedCache(100)
    for key in "ab":
        cache.get(key, lambda key=key: (key, 50))
    cache.get("a", never)
    cache.get("c", lambda: ("c", 50))
    assert cache.get("a", never) == "a"
    assert cache.get("b", lambda: ("made again", 50)) == "made again"


def test_a_value_that_is_larger_than_the_cache_is_not_kept():
    cache = ByteLimitedCache(100)
    cache.get("a", lambda: ("a", 50))
    assert cache.get("b", lambda: ("b", 101)) == "b"
    assert cache.get("a", never) == "a"
    with pytest.raises(AssertionError):
        cache.get("b", never)

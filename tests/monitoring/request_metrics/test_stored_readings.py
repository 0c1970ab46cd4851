"""Which readings are kept, and with which one the newest is compared."""

from monitoring import redis_client, redis_keys
from monitoring.request_metrics.prometheus_parser import Sample
from monitoring.request_metrics.stored_readings import (
    KEPT_S,
    StoredReadings,
    add_newest,
    load,
    reading_to_compare,
    save,
)


def after(*times_s: int) -> StoredReadings:
    """The readings that are kept after these, each as its time."""
    stored: StoredReadings = []
    for time_s in times_s:
        stored = add_newest(stored, time_s * 1000, [])
    return stored


def kept(*times_s: int) -> list[int]:
    return [at_ms // 1000 for at_ms, _samples in after(*times_s)]


def compared_with(*times_s: int) -> int | None:
    found = reading_to_compare(after(*times_s))
    return found and found[0] // 1000


def test_the_first_reading_has_none_before():
    assert compared_with(0) is None
    assert compared_with(0, 4) is None


def test_a_reading_is_compared_with_the_one_before():
    assert compared_with(0, 10) == 0
    assert compared_with(0, 10, 20) == 10


def test_many_readings_shorten_no_time_below_five_seconds():
    assert compared_with(*range(0, 14, 2)) == 6
    assert [compared_with(*range(0, n, 2)) for n in range(8, 22, 2)] == [0, 0, 0, 6, 6, 6, 12]
    assert kept(*range(0, 40, 2)) == [38, 36, 30]


def test_readings_are_kept_in_redis_for_two_minutes(redis_server):
    sample = Sample("kafka_a", {"request": "Fetch", "le": "+Inf"}, 1.5)
    save("local", 1, [(9000, [sample]), (3000, [])])
    assert load("local", 1, 9000) == [(9000, [sample]), (3000, [])]
    assert load("local", 1, 3000 + KEPT_S * 1000) == [(9000, [sample])]
    assert load("local", 2, 9000) == load("other", 1, 9000) == []
    with redis_client.guarded() as client:
        assert 0 < client.ttl(redis_keys.request_readings("local")) <= KEPT_S

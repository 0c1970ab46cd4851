"""The last readings of each broker's request metrics, in Redis for two minutes.

All users of a broker's page share them: a broker is asked at most every two seconds, however many
look. Figures over less than five seconds jump, so a reading that is younger is not compared with,
and of several within five seconds only one is kept to be compared with later.
"""

import json
import zlib

from monitoring import redis_client, redis_keys
from monitoring.request_metrics.prometheus_parser import Sample

KEPT_S = 120
FRESH_MS = 2_000
APART_MS = 5_000
_READINGS_MAX = 3  # the newest, and two to compare with

StoredReadings = list[tuple[int, list[Sample]]]  # times and samples, the newest first


def load(slug: str, broker_id: int, now_ms: int) -> StoredReadings:
    """The readings of the last two minutes. Raises RedisDown."""
    with redis_client.quick() as client:
        found = client.hget(redis_keys.request_readings(slug), str(broker_id))
    if not isinstance(found, bytes):
        return []
    return [
        (at_ms, [Sample(*sample) for sample in samples])
        for at_ms, samples in json.loads(zlib.decompress(found))
        if 0 <= now_ms - at_ms < KEPT_S * 1000
    ]


def save(slug: str, broker_id: int, stored: StoredReadings) -> None:
    """Raises RedisDown."""
    packed = zlib.compress(json.dumps(stored).encode(), level=1)
    key = redis_keys.request_readings(slug)
    with redis_client.quick() as client:
        pipe = client.pipeline()
        pipe.hset(key, str(broker_id), packed)
        pipe.expire(key, KEPT_S)
        pipe.execute()


def add_newest(stored: StoredReadings, at_ms: int, samples: list[Sample]) -> StoredReadings:
    """The readings to store after a new one."""
    if len(stored) > 1 and stored[0][0] - stored[1][0] < APART_MS:
        stored = stored[1:]
    return [(at_ms, samples), *stored][:_READINGS_MAX]


def reading_to_compare(stored: StoredReadings) -> tuple[int, list[Sample]] | None:
    """The reading with which the newest one is compared; None if there is none yet."""
    return next((each for each in stored if stored[0][0] - each[0] >= APART_MS), None)

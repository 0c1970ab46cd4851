"""What the console stands on, part by part: databases, workers, the clock, Spark, deliveries.

A look costs two questions to Redis and three to the database, and is shared by all of this
process for LOOK_S; Spark is asked aside (monitoring/spark/probe.py). `/readyz` tells every part, a
page those that are DOWN.
"""

import threading
import time
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db import DatabaseError, connection

from monitoring import beat, heartbeats, redis_client
from monitoring.alerts.backlog import backlog
from monitoring.clock import now_ms
from monitoring.queues import QUEUES
from monitoring.spark.probe import SparkState, spark_probe

DEMO = "demo"
LOOK_S = 2.0
# Until then, what was not heard since this process began may be starting as well.
START_S = 60.0


class State(StrEnum):
    """How a part stands."""

    OK = "ok"
    DOWN = "down"  # somebody must look
    UNKNOWN = "unknown"  # cannot be told, or not yet
    ELSEWHERE = "elsewhere"  # the fault is somebody else's
    LEFT_OUT = "left out"  # not run here, by choice


@dataclass(frozen=True, slots=True)
class Part:
    """`why` is a word of texts.py; `count` and `since_ms` what it says besides."""

    name: str
    state: State = State.OK
    why: str = ""
    since_ms: int | None = None
    count: int = 0
    is_needed: bool = True  # False = the console does its work without it

    @property
    def is_ready(self) -> bool:
        return not self.is_needed or self.state in (State.OK, State.ELSEWHERE, State.LEFT_OUT)


_lock = threading.Lock()
_looked_s = -1e9
_parts: tuple[Part, ...] = ()
_started_s = time.monotonic()


def current(spark_wait_s: float = 0.0) -> tuple[Part, ...]:
    """Every part as it stands now."""
    global _looked_s, _parts
    spark = _spark(spark_wait_s)
    with _lock:
        if time.monotonic() - _looked_s > LOOK_S:
            redis = _redis()
            _parts = (_database(), redis, *_heard(redis), _deliveries())
            _looked_s = time.monotonic()
        return (*_parts, spark)


def troubles() -> list[Part]:
    """What a page must say: a store that is silent is told with the samples (console/live/)."""
    return [part for part in current() if part.state is State.DOWN and part.why != "silent"]


def forget() -> None:
    """The next to ask looks again."""
    global _looked_s
    _looked_s = -1e9


def _database() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Part("database", State.DOWN, "silent")
    return Part("database")


def _redis() -> Part:
    """Asked to write: one that is full answers, and nothing works with it."""
    try:
        with redis_client.quick() as client:
            client.set("aerie:health", 1, px=60_000)
    except redis_client.StoreFull:
        return Part("redis", State.DOWN, "full")
    except redis_client.StoreDown:
        return Part("redis", State.DOWN, "silent")
    return Part("redis")


def _heard(redis: Part) -> list[Part]:
    """The workers, beat and the demo traffic, by their heartbeats."""
    processes = {f"worker {queue.name}": queue.process_name for queue in QUEUES.values()}
    processes[beat.NAME] = "beat"
    if DEMO in settings.AERIE_PROCESSES:
        processes[DEMO] = DEMO
    if redis.state is not State.OK:  # none can be written: nothing is known
        return [Part(name, State.UNKNOWN, "redis") for name in processes]
    try:
        ages = heartbeats.ages_ms()
    except redis_client.StoreDown:
        return [Part(name, State.UNKNOWN, "redis") for name in processes]
    return [_heard_one(name, process, ages) for name, process in processes.items()]


def _heard_one(name: str, process: str, ages: dict[str, int]) -> Part:
    if not _is_run(process):
        return Part(name, State.LEFT_OUT)
    age_ms = ages.get(name.removeprefix("worker "))
    if age_ms is not None and age_ms < heartbeats.SILENT_MS:
        return Part(name)
    is_expected = age_ms is not None or bool(settings.AERIE_PROCESSES)
    up_s = time.monotonic() - _started_s
    is_heard_since_start = age_ms is not None and age_ms < up_s * 1000
    if not is_expected or (up_s < START_S and not is_heard_since_start):
        return Part(name, State.UNKNOWN, "unheard", is_needed=name != DEMO)
    since_ms = now_ms() - age_ms if age_ms is not None else None
    return Part(name, State.DOWN, "stopped", since_ms, is_needed=name != DEMO)


def _is_run(process: str) -> bool:
    return not settings.AERIE_PROCESSES or process in settings.AERIE_PROCESSES


def _deliveries() -> Part:
    try:
        waiting = backlog()
    except DatabaseError:
        return Part("deliveries", State.UNKNOWN, "database")
    if waiting.stuck and time.monotonic() - _started_s < START_S:
        return Part("deliveries", State.UNKNOWN, "unheard")
    if waiting.stuck:
        return Part("deliveries", State.DOWN, "stuck", waiting.since_ms, waiting.stuck)
    if waiting.unanswered:
        return Part("deliveries", State.ELSEWHERE, "unanswered", count=waiting.unanswered)
    return Part("deliveries")


def _spark(wait_s: float) -> Part:
    if settings.AERIE_EMBEDDED_SPARK and not _is_run("spark"):
        return Part("spark", State.LEFT_OUT)
    result = spark_probe.latest(wait_s)
    states = {
        SparkState.OK: State.OK,
        SparkState.FROZEN: State.DOWN,
        SparkState.REFUSED: State.DOWN,
    }
    # One that is not there may be starting: pages of reports say so.
    state = states.get(result.state, State.UNKNOWN)
    return Part("spark", state, "" if state is State.OK else result.state.value, result.since_ms)

"""The health of the parts that the console needs: database, Redis, workers, beat, Spark,
deliveries.

A check makes two requests to Redis and three to the database; its result is cached for CACHE_S per
process. Spark is checked in the background (monitoring/spark/probe.py). `/readyz` shows all parts,
pages only those that are DOWN.
"""

import threading
import time
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db import DatabaseError, connection

from monitoring import redis_client
from monitoring.alerts.undelivered_messages import backlog
from monitoring.background import beat_scheduler, stored_heartbeats
from monitoring.background.queues import QUEUES
from monitoring.clock import now_ms
from monitoring.pipeline import backlog as pipeline_backlog
from monitoring.spark.probe import SparkState, missing_address, spark_probe
from monitoring.spark.server_config import from_settings

DEMO = "demo"
CACHE_S = 2.0
# For this time after the start, processes without a heartbeat may still be starting.
START_S = 60.0


class State(StrEnum):
    """The state of a part."""

    OK = "ok"
    DOWN = "down"  # the operator must act
    UNKNOWN = "unknown"  # cannot be determined, or not yet
    ELSEWHERE = "elsewhere"  # an external system is at fault
    LEFT_OUT = "left out"  # not started here, by configuration


class Why(StrEnum):
    """Why a part is not OK; console/ui/readiness_texts.py has a text for each."""

    SILENT = "silent"  # it does not answer
    FULL = "full"
    REDIS_SILENT = "redis silent"  # so nothing is known of this part
    DATABASE_SILENT = "database silent"  # so nothing is known of this part
    NO_HEARTBEAT_YET = "no heartbeat yet"
    STOPPED = "stopped"
    ABSENT = "absent"
    NO_MASTER = "no master"
    FROZEN = "frozen"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    OVERDUE = "overdue"
    WEBHOOK_FAILS = "webhook fails"
    BACKLOG = "backlog"
    DISK_ALMOST_FULL = "disk almost full"
    DISK_FULL = "disk full"
    UNWRITTEN = "unwritten"


@dataclass(frozen=True, slots=True)
class Part:
    """One part; `count`, `since_ms` and `address` are parameters of the text of `why`."""

    name: str
    state: State = State.OK
    why: Why | None = None
    since_ms: int | None = None
    count: int = 0
    is_needed: bool = True  # False = the console works without it
    address: str = ""

    @property
    def is_ready(self) -> bool:
        return not self.is_needed or self.state in (State.OK, State.ELSEWHERE, State.LEFT_OUT)


_lock = threading.Lock()
_checked_s = -1e9  # never
_parts: tuple[Part, ...] = ()
_started_s = time.monotonic()


def current(spark_wait_s: float = 0.0) -> tuple[Part, ...]:
    """The current state of all parts."""
    global _checked_s, _parts
    spark = _spark(spark_wait_s)
    with _lock:
        if time.monotonic() - _checked_s > CACHE_S:
            redis = _redis()
            _parts = (_database(), redis, *_processes(redis), _deliveries(), _pipeline())
            _checked_s = time.monotonic()
        return (*_parts, spark)


def problems() -> list[Part]:
    """The parts that pages report. A Redis or database that does not answer is reported with the
    samples instead.
    """
    return [part for part in current() if part.state is State.DOWN and part.why is not Why.SILENT]


def _database() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Part("database", State.DOWN, Why.SILENT)
    return Part("database")


def _redis() -> Part:
    """Checks a write: a full Redis answers reads, but nothing works with it."""
    try:
        with redis_client.quick() as client:
            client.set("aerie:health", 1, px=60_000)
    except redis_client.RedisFull:
        return Part("redis", State.DOWN, Why.FULL)
    except redis_client.RedisDown:
        return Part("redis", State.DOWN, Why.SILENT)
    return Part("redis")


def _processes(redis: Part) -> list[Part]:
    """The workers, beat and the demo traffic, by their heartbeats."""
    processes = {f"worker {queue.name}": queue.process_name for queue in QUEUES.values()}
    processes[beat_scheduler.NAME] = "beat"
    if DEMO in settings.AERIE_PROCESSES:
        processes[DEMO] = DEMO
    if redis.state is not State.OK:  # no heartbeats can be written
        return [Part(name, State.UNKNOWN, Why.REDIS_SILENT) for name in processes]
    try:
        ages = stored_heartbeats.ages_ms()
    except redis_client.RedisDown:
        return [Part(name, State.UNKNOWN, Why.REDIS_SILENT) for name in processes]
    return [_process(name, process, ages) for name, process in processes.items()]


def _process(name: str, process: str, ages: dict[str, int]) -> Part:
    if not _runs_here(process):
        return Part(name, State.LEFT_OUT)
    age_ms = ages.get(name.removeprefix("worker "))
    if age_ms is not None and age_ms < stored_heartbeats.SILENT_MS:
        return Part(name)
    is_expected = age_ms is not None or bool(settings.AERIE_PROCESSES)
    up_s = time.monotonic() - _started_s
    is_recorded_since_start = age_ms is not None and age_ms < up_s * 1000
    if not is_expected or (up_s < START_S and not is_recorded_since_start):
        return Part(name, State.UNKNOWN, Why.NO_HEARTBEAT_YET, is_needed=name != DEMO)
    since_ms = now_ms() - age_ms if age_ms is not None else None
    return Part(name, State.DOWN, Why.STOPPED, since_ms, is_needed=name != DEMO)


def _runs_here(process: str) -> bool:
    return not settings.AERIE_PROCESSES or process in settings.AERIE_PROCESSES


def _deliveries() -> Part:
    try:
        undelivered = backlog()
    except DatabaseError:
        return Part("deliveries", State.UNKNOWN, Why.DATABASE_SILENT)
    if undelivered.overdue and time.monotonic() - _started_s < START_S:
        return Part("deliveries", State.UNKNOWN, Why.NO_HEARTBEAT_YET)
    if undelivered.overdue:
        return Part(
            "deliveries", State.DOWN, Why.OVERDUE, undelivered.since_ms, undelivered.overdue
        )
    if undelivered.failing_rules:
        return Part(
            "deliveries", State.ELSEWHERE, Why.WEBHOOK_FAILS, count=undelivered.failing_rules
        )
    return Part("deliveries")


def _pipeline() -> Part:
    """The data pipeline: the history that it writes, its disk, and hours that wait for long."""
    try:
        found = pipeline_backlog.current(now_ms())
    except DatabaseError:
        return Part("pipeline", State.UNKNOWN, Why.DATABASE_SILENT)
    if found.is_disk_full:
        return Part("pipeline", State.DOWN, Why.DISK_FULL)
    if found.unwritten_since_ms is not None:
        return Part("pipeline", State.DOWN, Why.UNWRITTEN, found.unwritten_since_ms)
    if found.is_disk_almost_full:
        return Part("pipeline", State.DOWN, Why.DISK_ALMOST_FULL)
    if settings.AERIE_EMBEDDED_SPARK and not _runs_here("spark"):
        return Part("pipeline", State.LEFT_OUT)
    if found.hours and found.is_growing:
        return Part("pipeline", State.DOWN, Why.BACKLOG, found.since_ms, found.hours)
    return Part("pipeline")


def _spark(wait_s: float) -> Part:
    if settings.AERIE_EMBEDDED_SPARK and not _runs_here("spark"):
        return Part("spark", State.LEFT_OUT)
    result = spark_probe.latest(wait_s)
    states = {
        SparkState.OK: State.OK,
        SparkState.FROZEN: State.DOWN,
        SparkState.REFUSED: State.DOWN,
        SparkState.NO_MASTER: State.DOWN,
    }
    # If it is absent, it may be starting; the report pages show that.
    state = states.get(result.state, State.UNKNOWN)
    why = None if state is State.OK else Why(result.state.value)
    address = missing_address(from_settings(), result.state)
    return Part("spark", state, why, result.since_ms, address=address)

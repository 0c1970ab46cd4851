"""Samples one tick of one cluster: lock, read, assemble, store, notify pages, evaluate alert rules.

The events since the last tick are stored before pages are notified, so that these show them.

A tick that cannot be stored is lost and becomes a gap. An alert rule or a notification that fails
does not affect the sample.
"""

import logging
import uuid
from dataclasses import replace

from channels.layers import get_channel_layer
from redis import RedisError

from monitoring import redis_client, redis_keys
from monitoring.alerts.evaluate import evaluate
from monitoring.clock import now_ms
from monitoring.cluster_events import store_events
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop
from monitoring.redis_lock import try_lock
from monitoring.sampling import time_limits
from monitoring.sampling.assemble import assemble
from monitoring.sampling.carry_over import carry_over
from monitoring.sampling.reader_pool import ReaderPool, SamplingResult, SamplingTarget
from monitoring.ticks import tick_stream
from monitoring.ticks.free_redis_memory import free_redis_memory
from monitoring.ticks.tick import Tick
from monitoring.ticks.tick_stream import put_tick, record_skip_reason

log = logging.getLogger(__name__)
readers = ReaderPool()


def sample_cluster(target: SamplingTarget, tick_number: int, interval_ms: int) -> Tick | None:
    """Sample `target`; None if another worker does so, or Redis is down."""
    try:
        holder = f"{tick_number}-{uuid.uuid4().hex}"
        with try_lock(redis_keys.sampling(target.slug), holder, interval_ms) as other_holder:
            if other_holder is not None:
                # Another worker has this tick, or is still reading an earlier one.
                if int(other_holder.partition("-")[0]) < tick_number:
                    record_skip_reason(target.slug, tick_number, Reason("still_reading"))
                return None
            previous = _last_ok_tick(target.slug, tick_number)
            reading = readers.read(target, interval_ms, previous)
            result = event_loop.run(reading, timeout_s=interval_ms / 1000)
            tick = _make_tick(result, tick_number, interval_ms, previous)
            if not put_tick(tick):
                return None
            if tick.ok:
                # For the next sample of this process: `carry_over` and the last records.
                readers.last_ticks[target.slug] = tick
    except redis_client.RedisDown as error:
        log.warning("tick %d of %s is lost: %s", tick_number, target.slug, error)
        if isinstance(error, redis_client.RedisFull):
            _free_redis_memory()
        return None
    store_events.store(tick, previous)
    notify(f"tick.{target.slug}", "tick", tick)
    if evaluate(tick):
        notify(f"alerts.{target.slug}", "alerts", tick)
    return tick


def _last_ok_tick(slug: str, tick_number: int) -> Tick | None:
    """The last ok tick: of this process, or from Redis if another process made it.

    After a long gap Redis no longer has one; then the last one of this process is used.
    """
    last = readers.last_ticks.get(slug)
    if last is not None and last.tick == tick_number - 1:
        return last
    return tick_stream.last_ok_tick(slug, may_block=True) or last


def _make_tick(
    result: SamplingResult, tick_number: int, interval_ms: int, previous: Tick | None
) -> Tick:
    if result.answers is not None:
        tick = assemble(result.slug, tick_number, interval_ms, result.took_ms, result.answers)
        coordinators = {each.broker_id for each in result.answers.coordinators}
        tick = replace(tick, zookeeper_up=result.zookeeper_up)
        return carry_over(tick, previous, coordinators)
    return Tick(
        cluster=result.slug,
        tick=tick_number,
        at_ms=max(now_ms(), tick_number * interval_ms),
        interval_ms=interval_ms,
        status="gap",
        reason=result.reason,
        took_ms=result.took_ms,
        zookeeper_up=result.zookeeper_up,
    )


def _free_redis_memory() -> None:
    """Free memory here, too: the worker's heartbeat, which does it as well, may come much later."""
    try:
        free_redis_memory()
    except redis_client.RedisDown as error:
        log.warning("no old samples were deleted: %s", error)


def notify(channel_group: str, kind: str, tick: Tick) -> None:
    """Send the tick's number to the web processes; they read the tick from Redis."""
    message = {"type": kind, "cluster": tick.cluster, "tick": tick.tick}
    try:
        event_loop.run(get_channel_layer().group_send(channel_group, message), time_limits.NOTIFY_S)
    except (RedisError, OSError, TimeoutError) as error:
        log.warning("no notification for tick %d of %s: %s", tick.tick, tick.cluster, error)

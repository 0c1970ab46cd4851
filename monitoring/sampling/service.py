"""One tick of one cluster from start to end: lock, read, assemble, store, judge, tell.

Each step stands alone: a tick that cannot be stored is lost and shows as a gap; an alert rule
that fails, or a notice that does not get through, never costs the sample.
"""

import logging
from dataclasses import replace

from channels.layers import get_channel_layer
from redis import RedisError

from monitoring import keys, redis_client
from monitoring.alerts.evaluate import evaluate
from monitoring.clock import now_ms
from monitoring.gateway import loop
from monitoring.redis_lock import try_lock
from monitoring.sampling.assemble import assemble
from monitoring.sampling.carry import carried
from monitoring.sampling.sampler import Outcome, Samplers, Target
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick
from monitoring.ticks.tick_stream import note_skipped, put_tick

log = logging.getLogger(__name__)
samplers = Samplers()
_NOTICE_TIMEOUT_S = 2.0


def sample_cluster(target: Target, number: int, interval_ms: int) -> Tick | None:
    """Sample `target` for tick `number`; None when another worker does, or Redis is away."""
    try:
        with try_lock(keys.sampling(target.slug), str(number), interval_ms) as holder:
            if holder is not None:
                if int(holder) < number:
                    note_skipped(target.slug, number, "the tick before was still being read")
                return None
            outcome = loop.run(samplers.read(target, interval_ms), timeout_s=interval_ms / 1000)
            tick = _tick(outcome, number, interval_ms)
            if not put_tick(tick):
                return None
            if tick.ok:
                samplers.last[target.slug] = tick
    except redis_client.StoreDown as error:
        log.warning("tick %d of %s is lost: %s", number, target.slug, error)
        return None
    notify(f"tick.{target.slug}", "tick", tick)
    if evaluate(tick):
        notify(f"alerts.{target.slug}", "alerts", tick)
    return tick


def _tick(outcome: Outcome, number: int, interval_ms: int) -> Tick:
    if outcome.reads is not None:
        tick = assemble(outcome.slug, number, interval_ms, outcome.took_ms, outcome.reads)
        coordinators = {read.broker_id for read in outcome.reads.coordinators}
        tick = replace(tick, zookeeper_up=outcome.zookeeper_up)
        return carried(tick, _before(tick), coordinators)
    return Tick(
        cluster=outcome.slug,
        tick=number,
        at_ms=max(now_ms(), number * interval_ms),
        interval_ms=interval_ms,
        status="gap",
        reason=outcome.reason,
        took_ms=outcome.took_ms,
        zookeeper_up=outcome.zookeeper_up,
    )


def _before(tick: Tick) -> Tick | None:
    """The good tick before: of this process, or of Redis where another made it.

    Redis forgets it after a long gap; what this process saw last is then better than nothing.
    """
    last = samplers.last.get(tick.cluster)
    if last is not None and last.tick == tick.tick - 1:
        return last
    return tick_stream.last_ok_tick(tick.cluster, patient=True) or last


def notify(group: str, kind: str, tick: Tick) -> None:
    """Name the tick to the web processes; nothing else travels there."""
    message = {"type": kind, "cluster": tick.cluster, "tick": tick.tick}
    try:
        loop.run(get_channel_layer().group_send(group, message), _NOTICE_TIMEOUT_S)
    except (RedisError, OSError, TimeoutError) as error:
        log.warning("tick %d of %s was not announced: %s", tick.tick, tick.cluster, error)

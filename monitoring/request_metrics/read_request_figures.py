"""Reads the requests of a broker by API: from its metrics now and, if known, some seconds ago."""

from monitoring.clock import now_ms
from monitoring.error_reason import Reason
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.redis_client import RedisDown
from monitoring.request_metrics import stored_readings
from monitoring.request_metrics.counters import PREFIXES, parse_reading
from monitoring.request_metrics.figures_between_readings import Figures, figures_between
from monitoring.request_metrics.prometheus_parser import InvalidFormat, Sample, samples
from monitoring.request_metrics.stored_readings import FRESH_MS, StoredReadings


def read(gateway: Gateway, slug: str, broker_id: int, *, since_start: bool = False) -> Figures:
    """The figures of the last seconds; since the broker's start if it is the first reading, or if
    that is asked for. Raises GatewayError."""
    stored = _readings(gateway, slug, broker_id)
    at_ms, newest = stored[0]
    compared = None if since_start else stored_readings.reading_to_compare(stored)
    before = parse_reading(compared[1], compared[0]) if compared else None
    return figures_between(parse_reading(newest, at_ms), before)


def _readings(gateway: Gateway, slug: str, broker_id: int) -> StoredReadings:
    """The newest reading and those before. Without Redis there are none before."""
    try:
        stored = stored_readings.load(slug, broker_id, now_ms())
    except RedisDown:
        stored = []
    if stored and now_ms() - stored[0][0] < FRESH_MS:
        return stored
    newest = _samples(broker_id, gateway.broker_metrics.text(broker_id))
    stored = stored_readings.add_newest(stored, now_ms(), newest)
    try:
        stored_readings.save(slug, broker_id, stored)
    except RedisDown:
        pass  # the next page shows the figures since the start again
    return stored


def _samples(broker_id: int, text: str) -> list[Sample]:
    try:
        found = list(samples(text, PREFIXES))
    except InvalidFormat as error:
        raise Refused(Reason("metrics_format", id=broker_id, why=str(error))) from error
    if not parse_reading(found, 0).apis:
        raise Refused(Reason("metrics_without_requests", id=broker_id))
    return found

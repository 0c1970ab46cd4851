"""The counters of a broker's requests by API, from samples of its metrics. Pure.

The names are those that Prometheus' JMX exporter makes with its example rules for Kafka, which
brokerd has too: `kafka_network_requestmetrics_<what>{request="Produce"}`. Times are in
milliseconds. Of an API a source has some of these:

    <time>_count, or …_count_total   requests; the latter since version 1 of the exporter
    <time>_sum, or <time>_mean       the example rules leave both out
    <time>_bucket{le}                a histogram since the start, as brokerd's
    <time>{quantile}                 as Kafka computes them: mostly from the last five minutes

Kafka counts a Fetch twice: as Fetch, and as FetchConsumer or FetchFollower.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from monitoring.request_metrics.prometheus_parser import Sample

_REQUESTS = "kafka_network_requestmetrics_"
_START = "process_start_time_seconds"
_BROKERD = "brokerd_loop_"  # only brokerd has them
PREFIXES = (_REQUESTS, _START, _BROKERD)
# Part of a request's time → its name among the metrics.
PARTS = {
    "total": "totaltimems",
    "queue": "requestqueuetimems",
    "local": "localtimems",
    "remote": "remotetimems",
    "response_queue": "responsequeuetimems",
    "send": "responsesendtimems",
}
_BYTES = "requestbytes"


@dataclass(slots=True)
class Distribution:
    """Values of all requests since the start: how many, their sum, how many up to each bound.

    `quantiles` are the source's own. What a source does not have is None or empty.
    """

    count: float | None = None
    sum: float | None = None
    mean: float | None = None
    buckets: dict[float, float] = field(default_factory=dict)
    quantiles: dict[float, float] = field(default_factory=dict)

    @property
    def total(self) -> float | None:
        """The sum of all values, from their mean if need be."""
        if self.sum is None and self.mean is not None and self.count is not None:
            return self.mean * self.count
        return self.sum


@dataclass(slots=True)
class ApiCounters:
    requests: float | None = None
    errors: float | None = None
    size_bytes: Distribution = field(default_factory=Distribution)
    times_ms: dict[str, Distribution] = field(
        default_factory=lambda: {part: Distribution() for part in PARTS}
    )

    @property
    def count(self) -> float:
        """The requests; if the source does not have them by API, those with a time."""
        return self.requests if self.requests is not None else self.times_ms["total"].count or 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one time, by the name of the API. `started_at_ms`: None = unknown."""

    at_ms: int
    started_at_ms: int | None
    apis: Mapping[str, ApiCounters]


def parse_reading(samples: Iterable[Sample], at_ms: int) -> Reading:
    """The reading of a broker's samples; it has no APIs if they are of something else."""
    apis: dict[str, ApiCounters] = {}
    started_at_ms = None
    has_errors = False
    for name, labels, value in samples:
        if not math.isfinite(value) or value < 0:
            continue  # not known
        # brokerd reports an error only after it occurred.
        has_errors |= name.startswith((f"{_REQUESTS}errors_total", _BROKERD))
        if name == _START:
            started_at_ms = round(value * 1000)
        elif name.startswith(_REQUESTS) and (api := labels.get("request")):
            _add_sample(
                apis.setdefault(api, ApiCounters()), name.removeprefix(_REQUESTS), labels, value
            )
    for counters in apis.values():
        if has_errors:
            counters.errors = counters.errors or 0.0
    return Reading(at_ms, started_at_ms, apis)


def _add_sample(counters: ApiCounters, name: str, labels: Mapping[str, str], value: float) -> None:
    """Kafka's counters of requests are by version, those of errors by code."""
    if name == "requests_total":
        counters.requests = (counters.requests or 0.0) + value
    elif name == "errors_total" and labels.get("error") != "NONE":
        counters.errors = (counters.errors or 0.0) + value
    for key, prefix in (*PARTS.items(), ("", _BYTES)):
        if name.startswith(prefix):
            values = counters.times_ms[key] if key else counters.size_bytes
            _add_value(values, name.removeprefix(prefix), labels, value)


def _add_value(values: Distribution, suffix: str, labels: Mapping[str, str], value: float) -> None:
    if suffix in ("_count", "_count_total"):
        values.count = value
    elif suffix == "_sum":
        values.sum = value
    elif suffix == "_mean":
        values.mean = value
    elif suffix == "_bucket" and (bound := _number(labels.get("le"))) is not None:
        values.buckets[bound] = value
    elif not suffix and (share := _number(labels.get("quantile"))) is not None:
        values.quantiles[share] = value


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return None if math.isnan(number) else number

"""The metrics of kafka.network:type=RequestMetrics: requests by API."""

from collections.abc import Iterator

from brokerd.errors import ErrorCode
from brokerd.metric_counters import PARTS, BrokerMetrics
from brokerd.server.admin_http.metrics.prometheus_text import MS_PER_S, Row, family, head, histogram
from brokerd.server.requests.request_times import api_name

_TIMES = {
    "queue": ("requestqueuetimems", "from when the loop woke until it began to receive them"),
    "local": ("localtimems", "from the receive until the reply was handed to the socket"),
    "remote": ("remotetimems", "waiting for records, replicas, members or ZooKeeper"),
    "send": ("responsesendtimems", "from then until the peer took what it did not take at once"),
    "total": ("totaltimems", "altogether, without the time of sending"),
}


def request_lines(metrics: BrokerMetrics) -> Iterator[str]:
    prefix = "kafka_network_requestmetrics_"
    apis = [(api_name(key), times) for key, times in sorted(metrics.apis.items())]
    apis = [(name, times) for name, times in apis if times.requests]
    requests: list[Row] = [({"request": name}, times.requests) for name, times in apis]
    yield from family(f"{prefix}requests_total", "counter", "Requests answered, by API.", requests)
    errors: list[Row] = [
        ({"request": api_name(key), "error": ErrorCode(code).name}, count)
        for (key, code), count in sorted(metrics.errors.items())
    ]
    text = "Requests, or partitions of Produce and Fetch, refused."
    yield from family(f"{prefix}errors_total", "counter", text, errors)
    for part in PARTS if apis else ():
        name, text = _TIMES[part]
        yield head(prefix + name, "histogram", f"Milliseconds of requests: {text}.")
        for api, times in apis:
            values = times.histogram(part)
            yield from histogram(prefix + name, {"request": api}, values, MS_PER_S)
    if apis:
        yield head(f"{prefix}requestbytes", "summary", "Bytes of requests.")
        for api, times in apis:
            yield f'{prefix}requestbytes_sum{{request="{api}"}} {times.request_bytes}\n'
            yield f'{prefix}requestbytes_count{{request="{api}"}} {times.requests}\n'

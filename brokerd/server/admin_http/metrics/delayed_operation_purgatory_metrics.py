"""The metrics of kafka.server:type=DelayedOperationPurgatory: requests that wait."""

from collections.abc import Iterator

from brokerd.metric_counters import FETCH, PRODUCE
from brokerd.server.admin_http.metrics.prometheus_text import Row, family, singles
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import api_name


def purgatory_lines(purgatory: Purgatory, pending_reads: PendingReads) -> Iterator[str]:
    prefix, text = "kafka_server_delayed", "Requests that wait: long polls, acks=all."
    rows: list[Row] = [
        ({"delayedOperation": api_name(key)}, purgatory.counts[key]) for key in (PRODUCE, FETCH)
    ]
    for name in ("purgatorysize", "numdelayedoperations"):
        yield from family(f"{prefix}operationpurgatory_{name}", "gauge", text, rows)
    expired: list[Row] = [({"fetcherType": "consumer"}, purgatory.expired)]
    name, text = f"{prefix}fetchmetrics_expires_total", "Long polls whose time ran out."
    yield from family(name, "counter", text, expired)
    cold = pending_reads.requests
    yield from singles(
        "brokerd_",
        ("parked_requests", "Requests that wait, of all APIs.", purgatory.count),
        ("cold_fetches_total", "Fetches that had to wait for the disk.", cold),
    )

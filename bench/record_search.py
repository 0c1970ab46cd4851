"""The row `record-search`: how fast records are found, over JSON records of 160 bytes.

A brokerd of its own has them in four partitions. Each search has its process, as in the console,
and finds one record in ten million at most, so that it reads all of them; an expression without a
literal is measured for SLOW_SECONDS. The second figure is the time until its first progress.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from bench.measured import Measured
from bench.report import Heading, Report
from bench.rows import Contender, Row
from bench.servers import BROKERD, Server, running
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.records.filters import Condition
from monitoring.records.search_events import SearchProgress
from monitoring.records.search_process_client import RunningSearch
from monitoring.records.search_request import SearchRequest

KEY = "record-search"
TOPIC, PARTITIONS, RECORD_BYTES = "searched", 4, 160
SLOW_SECONDS = 60.0
THIS = "this"
_NEEDLE = "needle-7"
_CONTAINS = {"conditions": (Condition("value", "contains", _NEEDLE),)}
SEARCHES: dict[str, dict[str, object]] = {
    "contains, newest first": _CONTAINS,
    "contains, oldest first": _CONTAINS | {"newest_first": False},
    "CEL with a literal": {"expression": f'record.value.name == "{_NEEDLE}"'},
    "CEL": {"expression": "record.value.amount > 1000", "seconds_max": SLOW_SECONDS},
}


def measure(directory: Path, records: int, results: Path) -> Report:
    """All searches, one after the other."""
    heading = Heading(
        "Search in records",
        f"{records:,} JSON records of {RECORD_BYTES} bytes in {PARTITIONS} partitions, as"
        " written without compression. Goals for two cores: contains 2,000,000 records a second,"
        " CEL 200,000, CEL with a literal 1,000,000.",
        "| Search | this | beside it | rate ÷ its | goal | first answer ÷ its | goal |",
        f"-{KEY}",
    )
    report = Report(results, 1, 0, heading)
    with running(directory, [BROKERD]) as servers:
        server = servers[BROKERD]
        write(server.address, TOPIC, records)
        for name, options in SEARCHES.items():
            row = Row(name, name, "records/s", "s to the first answer",
                      [Contender(THIS, THIS)])  # fmt: skip
            report.add_one(row, _searched(server, records, options))
    return report


def write(
    address: str,
    topic: str,
    records: int,
    *,
    batch_bytes: int = 1 << 20,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Create the topic with these settings, and write records to its partitions in turn.

    Raises KafkaException, or RuntimeError if not all were acknowledged.
    """
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=dict(settings or {}))])[
        topic
    ].result(30)
    producer = Producer(
        {"bootstrap.servers": address, "linger.ms": 50, "batch.size": batch_bytes,
         "queue.buffering.max.messages": 1_000_000}
    )  # fmt: skip
    for number, value in enumerate(_values(records)):
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 10_000 == 0:
            producer.poll(0)
    if producer.flush(120):
        raise RuntimeError("not all records were written")


def _values(records: int) -> Iterator[bytes]:
    for number in range(records):
        name = _NEEDLE if number == records // 2 else f"name-{number % 1000}"
        head = b'{"id": %d, "amount": %d, "name": "%s", "pad": "' % (
            number,
            number % 1000,
            name.encode(),
        )
        yield head.ljust(RECORD_BYTES - 2, b"x") + b'"}'


def _searched(server: Server, records: int, options: dict[str, object]) -> Measured:
    share = records // PARTITIONS
    spans = {number: range(share) for number in range(PARTITIONS)}
    settings = ClientSettings((("127.0.0.1", server.port),))
    began = time.perf_counter()
    first_s = 0.0
    last = SearchProgress()
    request = SearchRequest(settings, TOPIC, spans, **options)  # type: ignore[arg-type]
    with RunningSearch(request) as search:
        for event in search.events():
            first_s = first_s or time.perf_counter() - began
            if isinstance(event, SearchProgress):
                last = event
    if last.unread or not last.scanned:
        raise RuntimeError(f"the search did not read all partitions: {last.unread}")
    return Measured(last.scanned / last.seconds, first_s)

"""The row `record-pages`: the pages of records and segments with a large cluster, at the server.

A whole stack (bench/stacks.py) whose brokers have the topics and groups of the row `pages`, and a
topic of JSON records in many segments, each with four partitions. One user opens page after page;
then 20 users open a page every 2 s while 50 browsers have live pages open.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from bench.in_checkout.synthetic import PARTITIONS_PER_TOPIC, Synthetic
from bench.measured import Measured
from bench.pages import ALONE, BESIDE, BROWSERS, CPU, USERS, WARM_UP_VISITS, figures, open_pages
from bench.report import Heading, Report
from bench.rows import Contender, Row
from bench.scripts import output_of
from bench.servers import Process
from bench.sites import Site
from bench.stacks import SLUG, Stack, fill, running
from bench.visits import Page, many_users, one_user
from stack import data_folder_lock

KEY = "record-pages"
THIS = "this"
TOPIC, RECORDS, RECORD_BYTES, SEGMENT_BYTES = "bench.records", 400_000, 160, 1 << 20
VISITS_EACH = 20
SETTLE_SECONDS = 60
_SIGN_IN_TIMEOUT_S = 60
_LOAD_TEXTS = {ALONE: "1 user", BESIDE: f"{USERS} users, {BROWSERS} browsers"}


def measure(directory: Path, topics: int, seconds: float, results: Path) -> Report:
    """Each page under both loads. Raises RuntimeError if the stack does not start."""
    cluster = Synthetic(topics)
    heading = Heading(
        "Pages of records and segments",
        f"{topics:,} topics, {topics * PARTITIONS_PER_TOPIC:,} partitions,"
        f" {len(cluster.groups):,} groups on three brokers, sampled every 5 s; {RECORDS:,} records"
        f" of {RECORD_BYTES} bytes in segments of 1 MiB. One user opens each page {VISITS_EACH}"
        f" times within {seconds:g} s; then {USERS} users click every 2 s for {seconds:g} s while"
        f" {BROWSERS} browsers have live pages open. Goal: p95 200 ms.",
        "| Page | this | beside it | p95 ÷ its | goal | p50 ÷ its | goal |",
        f"-{KEY}",
    )
    report = Report(results, 1, seconds, heading)
    with running(directory / KEY) as stack:
        fill(stack.broker_port, cluster)
        _write(stack.broker_port)
        time.sleep(SETTLE_SECONDS)
        for key, measured in _loads(_site(stack), cluster, seconds).items():
            load, _, page = key.partition("-")
            name = "CPU of the web process" if page == CPU else page
            units = ("cores", "") if page == CPU else ("ms p95", "ms p50")
            row = Row(key, f"{name}: {_LOAD_TEXTS[load]}", *units, [Contender(THIS, THIS)],
                      less_is_better=True)  # fmt: skip
            report.add_one(row, measured)
    return report


def pages_of(number: int) -> list[Page]:
    """The pages that one user opens; `number` selects the partition and the offsets."""
    topic = f"/c/{SLUG}/topics/{TOPIC}"
    partition = number % PARTITIONS_PER_TOPIC
    offset = 1000 + 997 * number % (RECORDS // PARTITIONS_PER_TOPIC - 2000)
    segments = f"{topic}/partitions/{partition}/segments"
    return [
        Page("newest records", f"{topic}/messages"),
        Page("records of a partition", f"{topic}/messages?partition={partition}"),
        Page("records from an offset", f"{topic}/messages?partition={partition}&offset={offset}"),
        Page("one record", f"{topic}/messages/{partition}/{offset}"),
        Page("form of a search", f"{topic}/messages/search"),
        Page("segments", segments),
        Page("look-up of an offset", f"{segments}?offset={offset}"),
        Page("one segment", f"{segments}/0"),
    ]


def _write(port: int) -> None:
    """Write the records. Raises KafkaException, or RuntimeError if some were not acknowledged."""
    address = {"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0}
    settings = {"segment.bytes": str(SEGMENT_BYTES)}
    topic = NewTopic(TOPIC, PARTITIONS_PER_TOPIC, 1, config=settings)
    admin = AdminClient(address)
    admin.create_topics([topic])[TOPIC].result(60)
    producer = Producer(address | {"batch.size": 1 << 16, "linger.ms": 20,
                                   "queue.buffering.max.messages": RECORDS})  # fmt: skip
    for number, value in enumerate(_values()):
        producer.produce(TOPIC, value, f"key-{number}", partition=number % PARTITIONS_PER_TOPIC)
    if producer.flush(120):
        raise RuntimeError("not all records were written")


def _values() -> Iterator[bytes]:
    for number in range(RECORDS):
        value = json.dumps({"id": number, "name": f"customer-{number % 1000}", "text": ""})
        yield value.replace('""', f'"{"x" * (RECORD_BYTES - len(value))}"').encode()


def _site(stack: Stack) -> Site:
    sign_ins = json.loads(
        output_of("sign_ins.py", stack.data, 1 + USERS, timeout_s=_SIGN_IN_TIMEOUT_S)
    )
    found = data_folder_lock.load_stack_file(stack.data)
    if found is None:
        raise RuntimeError("the stack has ended")
    web = Process(int(found.processes["web"]["pid"]))
    cookies = [f"{sign_ins['cookie']}={key}" for key in sign_ins["sessions"]]
    return Site(stack.url, web, cookies)


def _loads(site: Site, cluster: Synthetic, seconds: float) -> dict[str, Measured | str]:
    one_user(site, pages_of(0), WARM_UP_VISITS, 0)
    users = [pages_of(number) for number in range(USERS)]
    browsers = open_pages(cluster, BROWSERS, SLUG)
    measured: dict[str, Measured | str] = {}
    for load in (ALONE, BESIDE):
        cpu_s, at = site.web.cpu_seconds(), time.perf_counter()
        if load == ALONE:
            visits = one_user(site, pages_of(0), VISITS_EACH, seconds)
        else:
            visits = many_users(site, users, browsers, seconds)
        took_s = time.perf_counter() - at
        visits.arrivals_ms.clear()  # the row `pages` has them
        measured |= {key: one for key, one in figures(load, visits, site.tick_times()).items()
                     if key.startswith(load)}  # fmt: skip
        measured[f"{load}-{CPU}"] = Measured((site.web.cpu_seconds() - cpu_s) / took_s, 0)
    return measured

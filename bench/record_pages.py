"""The row `record-pages`: the pages of records and segments with a large cluster, at the server.

A whole stack (bench/stacks.py) whose brokers have the topics and groups of the row `pages`, and a
topic of JSON records in many segments. The loads and the rows are those of `pages`.
"""

import json
import time
from pathlib import Path

from bench import pages
from bench.in_checkout.synthetic import PARTITIONS_PER_TOPIC, Synthetic
from bench.measured import Measured
from bench.pages import BROWSERS, USERS, VISITS_EACH
from bench.record_search import PARTITIONS, RECORD_BYTES, write
from bench.report import Heading, Report
from bench.rounds import Turn, checkouts_of, run_rounds
from bench.scripts import output_of
from bench.servers import Process
from bench.sites import Site, cookies_of
from bench.stacks import SLUG, Stack, fill, running
from bench.visits import Page
from stack import data_folder_lock

KEY = "record-pages"
TOPIC, RECORDS, SEGMENT_BYTES = "bench.records", 400_000, 1 << 20
SETTLE_SECONDS = 60
_SIGN_IN_TIMEOUT_S = 60


def measure(directory: Path, topics: int, seconds: float, results: Path) -> Report:
    """Each page under both loads."""
    checkouts = checkouts_of(None)
    (label,) = checkouts
    cluster = Synthetic(topics)
    heading = Heading(
        "Pages of records and segments",
        f"{topics:,} topics, {topics * PARTITIONS_PER_TOPIC:,} partitions,"
        f" {len(cluster.groups):,} groups on three brokers, sampled every 5 s; {RECORDS:,} records"
        f" of {RECORD_BYTES} bytes in segments of 1 MiB. One user opens each page {VISITS_EACH}"
        f" times within {seconds:g} s; then {USERS} users click every 2 s for {seconds:g} s while"
        f" {BROWSERS} browsers have live pages open. Goal: p95 200 ms.",
        f"| Page | {label} | beside it | p95 ÷ its | goal | p50 ÷ its | goal |",
        f"-{KEY}",
    )
    report = Report(results, 1, seconds, heading)
    table = pages.rows([label], [page.key for page in pages_of(0)])

    def run_turn(_checkout: Path, folder: Path) -> Turn:
        with running(folder) as stack:
            return _loads(stack, cluster, seconds)

    return run_rounds(KEY, directory, checkouts, 1, table, report, run_turn)


def pages_of(number: int) -> list[Page]:
    """The pages that one user opens; `number` selects the partition and the offsets."""
    topic = f"/c/{SLUG}/topics/{TOPIC}"
    partition = number % PARTITIONS
    offset = 1000 + 997 * number % (RECORDS // PARTITIONS - 2000)
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


def _loads(stack: Stack, cluster: Synthetic, seconds: float) -> dict[str, Measured | str]:
    fill(stack.broker_port, cluster)
    settings = {"segment.bytes": str(SEGMENT_BYTES)}
    address = f"127.0.0.1:{stack.broker_port}"
    write(address, TOPIC, RECORDS, batch_bytes=1 << 16, settings=settings)
    time.sleep(SETTLE_SECONDS)
    users = [pages_of(number) for number in range(USERS)]
    return pages.loads(_site(stack), users, pages.open_pages(cluster, BROWSERS, SLUG), seconds)


def _site(stack: Stack) -> Site:
    """The console of the stack, with new users who are signed in."""
    output = output_of("sign_ins.py", stack.data, 1 + USERS, timeout_s=_SIGN_IN_TIMEOUT_S)
    found = data_folder_lock.load_stack_file(stack.data)
    if found is None:
        raise RuntimeError("the stack has ended")
    web = Process(int(found.processes["web"]["pid"]))
    return Site(stack.url, web, cookies_of(json.loads(output)), None)

"""The row `pages`: response times of the console's pages with a large cluster.

The cluster has 10,000 topics, 40,000 partitions and 2,000 groups, and a sample every 5 s. It does
not exist: bench/in_checkout/ writes its samples. First one user opens page after page; then 20
users open a page every 2 s while 50 browsers have live pages open. With `--beside` another checkout
is measured alternately (A B A B), each time with a new console, database and Redis.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.in_checkout.synthetic import SLUG, Synthetic
from bench.measured import MB, Measured
from bench.report import Heading, Report
from bench.rounds import Turn, checkouts_of, run_rounds
from bench.rows import Contender, Goal, Row
from bench.sites import Site, running
from bench.visits import (
    PUSH,
    TIMEOUT_S,
    Page,
    Visits,
    many_users,
    one_user,
    percentile,
    push_delays_ms,
)

KEY = "pages"
USERS, BROWSERS = 20, 50
VISITS_EACH = 30
WARM_UP_VISITS = 3
HISTORY_MINUTES = 60  # the chart of a group shows an hour
ALONE, BESIDE = "alone", "beside"
CPU, MEMORY, MACHINE = "cpu", "memory", "machine"
_GOAL = Goal(1.2, 1.2)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the cluster and of the measurement; `seconds` is the time of each load."""

    topics: int
    rounds: int
    seconds: float


def pages_of(cluster: Synthetic, number: int, slug: str = SLUG) -> list[Page]:
    """The pages that one user opens; `number` selects the topic and the group."""
    base = f"/c/{slug}"
    topic = cluster.topics[(37 * number) % len(cluster.topics)]
    group = cluster.groups[(1 + 7 * number) % len(cluster.groups)]
    return [
        Page("overview", f"{base}/"),
        Page("topics", f"{base}/topics"),
        Page("topics by messages", f"{base}/topics?sort=-messages"),
        Page("topics with a word", f"{base}/topics?q=orders"),
        Page("topics, page 2", f"{base}/topics?page=2"),
        Page("topic", f"{base}/topics/{topic}"),
        Page("groups", f"{base}/groups"),
        Page("group", f"{base}/groups/{group}"),
        Page("brokers", f"{base}/brokers"),
        Page("alerts", f"{base}/alerts"),
        Page("healthz", "/healthz"),
        Page("metrics", "/metrics"),
    ]


LIVE = ("overview", "topics", "topic", "groups", "group", "brokers", "alerts")


def open_pages(cluster: Synthetic, count: int, slug: str = SLUG) -> list[Page]:
    """Live pages for `count` browsers, in turn, with different topics and groups."""
    pages = []
    for number in range(count):
        key = LIVE[number % len(LIVE)]
        pages += [page for page in pages_of(cluster, number, slug) if page.key == key]
    return pages


def rows(labels: Sequence[str], keys: Sequence[str]) -> list[Row]:
    """A row for each page and load, with a column for each label; the first is this checkout's."""
    table = []
    load_texts = {ALONE: "1 user", BESIDE: f"{USERS} users, {BROWSERS} browsers"}
    for load, load_text in load_texts.items():
        for key in keys:
            table.append(_row(f"{load}-{key}", f"{key}: {load_text}", "ms p95", "ms p50", labels))
        if load == BESIDE:
            name = f"from a tick to a browser: {load_text}"
            table.append(_row(f"{load}-{PUSH}", name, "ms p95", "ms p50", labels))
        if load == ALONE:
            for key in keys:
                table.append(_row(f"{CPU}-{key}", f"{key}: CPU", "CPU-ms p95", "p50", labels))
        table.append(
            _row(f"{load}-{CPU}", f"CPU of the web process: {load_text}", "cores", "", labels)
        )
    table.append(
        _row(MACHINE, "load average of the machine before the measurement", "", "", labels, Goal())
    )
    table.append(_row(MEMORY, "resident memory after the measurement", "MB", "", labels))
    return table


def _row(
    key: str, name: str, unit: str, second_unit: str, labels: Sequence[str], goal: Goal = _GOAL
) -> Row:
    contenders = [Contender(label, label, goal=goal) for label in labels]
    return Row(key, name, unit, second_unit, contenders, less_is_better=True)


def measure(directory: Path, beside: Path | None, size: Size, results: Path) -> Report:
    """Run all rounds; writes the results so far to `results` after each."""
    checkouts = checkouts_of(beside)
    report = Report(results, size.rounds, size.seconds, _heading(size, list(checkouts)))
    table = rows(list(checkouts), [page.key for page in pages_of(Synthetic(1), 0)])

    def run_turn(checkout: Path, folder: Path) -> Turn:
        with running(checkout, folder, size.topics, HISTORY_MINUTES, 1 + USERS) as site:
            cluster = Synthetic(size.topics)
            _check_samples(site, cluster)
            users = [pages_of(cluster, number) for number in range(USERS)]
            return loads(site, users, open_pages(cluster, BROWSERS), size.seconds)

    return run_rounds(KEY, directory, checkouts, size.rounds, table, report, run_turn)


def _heading(size: Size, labels: Sequence[str]) -> Heading:
    cluster = Synthetic(size.topics)
    return Heading(
        "Pages of the console",
        f"{size.topics:,} topics, {int(cluster.partition_counts.sum()):,} partitions,"
        f" {len(cluster.groups):,} groups, sampled every 5 s. Medians of {{rounds}} rounds in turn:"
        f" one user opens each page {VISITS_EACH} times within {{seconds:g}} s; then {USERS} users"
        f" click every 2 s for {{seconds:g}} s while {BROWSERS} browsers have live pages open."
        " CPU and memory are the web process's.",
        f"| Page | {labels[0]} | beside it | p95 ÷ its | goal | p50 ÷ its | goal |",
        "-pages",
    )


def loads(
    site: Site, users: Sequence[Sequence[Page]], browsers: Sequence[Page], seconds: float
) -> dict[str, Measured | str]:
    """One user with the pages of the first of `users`, then all users beside the browsers."""
    one_user(site, users[0], WARM_UP_VISITS, 0)
    turn: dict[str, Measured | str] = {MACHINE: Measured(os.getloadavg()[0], 0)}
    for load in (ALONE, BESIDE):
        cpu_s, at = site.web.cpu_seconds(), time.perf_counter()
        if load == ALONE:
            visits = one_user(site, users[0], VISITS_EACH, seconds)
        else:
            visits = many_users(site, users, browsers, seconds)
        took_s = time.perf_counter() - at
        turn |= figures(load, visits, site.tick_times())
        turn[f"{load}-{CPU}"] = Measured((site.web.cpu_seconds() - cpu_s) / took_s, 0)
    turn[MEMORY] = Measured(site.web.rss_bytes() / MB, 0)
    return turn


def _check_samples(site: Site, cluster: Synthetic) -> None:
    """Raises RuntimeError if pages have no samples: their times would mean nothing."""
    path = next(page.path for page in pages_of(cluster, 0) if page.key == "topics with a word")
    cookie = {"Cookie": site.cookies[0]}
    answer = httpx.get(site.url + path, headers=cookie, timeout=TIMEOUT_S, trust_env=False)
    if answer.status_code != 200 or cluster.topics[0] not in answer.text:
        raise RuntimeError(f"{path} answers {answer.status_code} and shows no sample")


def figures(
    load: str, visits: Visits, tick_times: Mapping[int, int] | None
) -> dict[str, Measured | str]:
    """The p95 and p50, or the problem, of each page, by the keys that `take` expects."""
    times = dict(visits.times_ms)
    if visits.arrivals_ms and tick_times is not None:
        times[PUSH] = push_delays_ms(tick_times, visits.arrivals_ms)
    results: dict[str, Measured | str] = {
        f"{name}-{key}": Measured(percentile(values, 0.95), percentile(values, 0.5))
        for name, by_key in ((load, times), (CPU, visits.cpu_ms))
        for key, values in by_key.items()
        if values
    }
    for key, problem in visits.problems.items():
        results[f"{load}-{key} failed"] = problem
    if PUSH in times and not times[PUSH]:
        results.setdefault(f"{load}-{PUSH} failed", "no browser got a message after a tick")
    return results

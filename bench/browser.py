"""The row `browser`: from a click to rows on the screen, and what a first visit moves.

One user in Chromium, with the cluster and the samples of the row `pages` (bench/sites.py). With
`--beside` another checkout is measured alternately.

Clicks go from page to page, in changing order, in a browser that has the files already and whose
page before is loaded and quiet: a script clicks a link, and the time ends when the next page has
been painted with what the user waits for (`Shown.rows`). A first visit is made by a browser that
has only a session: its bytes are those of the network, compressed and with headers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.in_checkout.synthetic import SLUG, Synthetic
from bench.measured import Measured
from bench.pages import HISTORY_MINUTES
from bench.report import Heading, Report
from bench.rounds import Turn, checkouts_of, run_rounds
from bench.rows import Contender, Row
from bench.sites import Site, running
from bench.visits import percentile
from tests.support.chromium import chromium_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

KEY = "browser"
CLICKS_EACH = 10
VISITS_EACH = 3
WARM_UP_CLICKS = 2
TIMEOUT_MS = 60_000
KB = 1000
VIEWPORT = {"width": 1440, "height": 900}
_SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# A click is remembered over the change of the page; the page that comes says when it was painted.
_CLICK = """asked => {
  const link = Object.assign(document.createElement("a"), { href: asked.path });
  document.body.append(link);
  const at = performance.timeOrigin + performance.now();
  sessionStorage.setItem("asked", JSON.stringify({ ...asked, at }));
  link.click();
}"""
_WATCH = """if (location.protocol === "http:" && sessionStorage.getItem("asked")) {
  const { number, rows, chart, at } = JSON.parse(sessionStorage.getItem("asked"));
  const look = () => {
    if (chart) document.querySelector(".chart")?.scrollIntoView();
    if (!document.querySelector(rows)) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => {
      document.body.dataset.ms = performance.timeOrigin + performance.now() - at;
      document.body.dataset.shown = number;
    }));
  };
  requestAnimationFrame(look);
}"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page, and the selector of what the user waits for on it."""

    key: str
    path: str
    rows: str
    chart: bool = False


def pages_of(cluster: Synthetic) -> list[Shown]:
    """The pages of the row."""
    base = f"/c/{SLUG}"
    lines = ".chart-preview, .chart .js-line"  # of the frame or, if it is quicker, of Plotly
    charts = ".chart .main-svg"
    return [
        Shown("overview", f"{base}/", "#live-dashboard .stat-value"),
        Shown("topics", f"{base}/topics", "#topics tbody tr"),
        Shown("topic", f"{base}/topics/{cluster.topics[0]}", "#partitions tbody tr"),
        Shown("groups", f"{base}/groups", "#groups tbody tr"),
        Shown("group", f"{base}/groups/{cluster.groups[1]}", "#live-group-stats .stat-value"),
        Shown("lines of a group", f"{base}/groups/{cluster.groups[1]}", lines, chart=True),
        Shown("chart of a group", f"{base}/groups/{cluster.groups[1]}", charts, chart=True),
        Shown("brokers", f"{base}/brokers", "#brokers tbody tr"),
        Shown("alerts", f"{base}/alerts", "#alerts > *"),
    ]


def measure(
    directory: Path, beside: Path | None, topics: int, rounds: int, results: Path
) -> Report:
    """All rounds; each turn has a new console and a new browser."""
    checkouts = checkouts_of(beside)
    pages = pages_of(Synthetic(topics))
    report = Report(results, rounds, 0, _heading(Synthetic(topics), list(checkouts)))
    table = rows(pages, list(checkouts))

    def run_turn(checkout: Path, folder: Path) -> Turn:
        return _run_turn(checkout, folder, topics, pages)

    return run_rounds(KEY, directory, checkouts, rounds, table, report, run_turn)


def rows(pages: Sequence[Shown], labels: Sequence[str]) -> list[Row]:
    """A row for the clicks to each page, and one for the first visit of it."""
    contenders = [Contender(label, label) for label in labels]
    kinds = (("click", "click to rows", "ms p50", "ms worst"), ("first", "first visit", "KB", "ms"))
    return [
        Row(f"{kind}-{page.key}", f"{page.key}: {name}", unit, second, contenders, True)
        for kind, name, unit, second in kinds
        for page in pages
    ]


def _heading(cluster: Synthetic, labels: Sequence[str]) -> Heading:
    this, beside = labels[0], labels[1] if len(labels) > 1 else "beside it"
    return Heading(
        "Pages in the browser",
        f"{len(cluster.topics):,} topics, {int(cluster.partition_counts.sum()):,} partitions;"
        f" one user in Chromium. Medians of {{rounds}} rounds of {CLICKS_EACH} clicks a page."
        " Goals of a first visit: 250 KB without a chart, 700 KB with one.",
        f"| Page | {this} | {beside} | first ÷ its | goal | second ÷ its | goal |",
        "-browser",
    )


def _run_turn(checkout: Path, directory: Path, topics: int, pages: Sequence[Shown]) -> Turn:
    chromium = chromium_path()
    if chromium is None:
        return {"": "there is no chromium on PATH"}
    # `make bench` does not install it: requirements/dev.lock has it.
    from playwright.sync_api import sync_playwright

    with (
        running(checkout, directory, topics, HISTORY_MINUTES, 1) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=_SWITCHES)
        _first_visit(browser, site, pages[-1])  # not counted: browser and server have just started
        first = {f"first-{page.key}": _first_visits(browser, site, page) for page in pages}
        return first | _clicks(browser, site, pages)


def _signed_in(browser: Browser, site: Site) -> BrowserContext:
    context = browser.new_context(base_url=site.url, viewport=VIEWPORT)
    context.set_default_timeout(TIMEOUT_MS)
    name, _equals, value = site.cookies[0].partition("=")
    context.add_cookies([{"name": name, "value": value, "url": site.url}])
    return context


def _first_visits(browser: Browser, site: Site, page: Shown) -> Measured:
    """Medians of some visits."""
    visits = [_first_visit(browser, site, page) for _ in range(VISITS_EACH)]
    return Measured(median(each.rate for each in visits), median(each.cpu for each in visits))


def _first_visit(browser: Browser, site: Site, page: Shown) -> Measured:
    """KB over the network until nothing comes any more, and ms to the rows."""
    with _signed_in(browser, site) as context:
        tab = context.new_page()
        sizes: list[int] = []
        network = context.new_cdp_session(tab)
        network.send("Network.enable")
        network.on("Network.loadingFinished", lambda end: sizes.append(end["encodedDataLength"]))
        begin = time.perf_counter()
        tab.goto(page.path, wait_until="commit")
        _wait_for(tab, page)
        took_ms = (time.perf_counter() - begin) * 1000
        tab.wait_for_load_state("networkidle")
        return Measured(sum(sizes) / KB, took_ms)


def _wait_for(tab: Page, page: Shown) -> None:
    if page.chart:
        tab.locator(".chart").first.scroll_into_view_if_needed()
    # A line without height, of a value that never changes, is not "visible" to Playwright.
    tab.locator(page.rows).first.wait_for(state="attached")


def _clicks(browser: Browser, site: Site, pages: Sequence[Shown]) -> dict[str, Measured]:
    times_ms: dict[str, list[float]] = {page.key: [] for page in pages}
    count = len(pages)
    with _signed_in(browser, site) as context:
        context.add_init_script(_WATCH)
        tab = context.new_page()
        tab.goto(pages[0].path)
        for number in range(count * (WARM_UP_CLICKS + CLICKS_EACH)):
            page = pages[(number + number // count) % count]  # each round begins one page later
            took_ms = _click(tab, page, number)
            if number >= count * WARM_UP_CLICKS:
                times_ms[page.key].append(took_ms)
    return {
        f"click-{key}": Measured(percentile(values, 0.5), max(values))
        for key, values in times_ms.items()
    }


def _click(tab: Page, page: Shown, number: int) -> float:
    tab.wait_for_load_state("networkidle")  # a user looks at a page before the next click
    with tab.expect_navigation(wait_until="commit"):
        asked = {"path": page.path, "rows": page.rows, "chart": page.chart, "number": number}
        tab.evaluate(_CLICK, asked)
    tab.locator(f'body[data-shown="{number}"]').wait_for()  # the CSP forbids to wait for a script
    return float(tab.evaluate("document.body.dataset.ms"))

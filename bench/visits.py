"""Simulates users of a console: one user who opens page after page, or many users and, at the same
time, browsers with open live pages.

A simulated browser opens a page, connects to the page's WebSocket and acknowledges each message. At
each tick it requests the URLs that the page's HTML has for that, so that each version of a page
causes its own load. Of a chart that has a `step_ms` it requests newer points, as
older checkouts do. Every response other than 200 is a problem.
"""

import asyncio
import json
import math
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from bench.sites import Site

CLICK_S = 2.0
SECONDS_MAX = 2  # a measurement takes at most this many times the requested time
TIMEOUT_S = 60.0
SETTLE_S = 0.02  # the CPU time that the process uses for so long after a response counts, too
CHART_PAUSE_S = 15.0  # as static/app/chart.js
FIRST_MESSAGE_S = 1.0  # a page that has the newest tick gets no message before the next tick
PUSH = "push"
"""The key of the results and problems of open browsers, like `Page.key`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page to measure; `key` is its name in the results."""

    key: str
    path: str


@dataclass(slots=True)
class Visits:
    """The results: response times in milliseconds and the first problem, by page key."""

    times_ms: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)
    """The CPU time of the web process for each visit; only measured with one user."""
    arrivals_ms: list[list[float]] = field(default_factory=list)
    """For each browser, when each message after the first arrived."""
    problems: dict[str, str] = field(default_factory=dict)

    def fail(self, key: str, problem: str) -> None:
        """Store the first problem of a page."""
        self.problems.setdefault(key, problem)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that is at least as large as `share` of the values.

    Raises ValueError if there are no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def push_delays_ms(
    tick_times: Mapping[int, int], arrivals_ms: Iterable[Sequence[float]]
) -> list[float]:
    """The times from each tick's notification to the first message that a browser got after it.

    If a browser got no message before the next tick, it has no time for this tick: it had not
    acknowledged the previous message yet.
    """
    starts = sorted(tick_times.values())
    delays = []
    for arrivals in arrivals_ms:
        for start, end in pairwise(starts):
            first = min((at for at in arrivals if start <= at < end), default=None)
            if first is not None:
                delays.append(first - start)
    return delays


@dataclass(slots=True)
class Chart:
    """A chart of an open page: the URL of its data, and the time of its last point if it has a
    `step_ms`."""

    path: str
    pause_s: float = CHART_PAUSE_S
    last_ms: int | None = None

    def url(self) -> str:
        return self.path if self.last_ms is None else f"{self.path}&since={self.last_ms}"

    def update(self, spec: Mapping[str, Any]) -> None:
        """Update from the chart's data, from the page or from a response."""
        if "step_ms" in spec and spec["series"]:
            self.last_ms = spec["series"][0]["x"][-1]
            self.pause_s = max(CHART_PAUSE_S, spec["step_ms"] / 1000)


class _LivePageParser(HTMLParser):
    """Parses a live page: its WebSocket, its charts, and the URLs to request at each tick."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = ""
        self.tick_urls: list[str] = []
        self.charts: list[tuple[str, str]] = []  # id of the data's script element, URL
        self.data: dict[str, str] = {}  # id of a script element → its text
        self._script = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.socket = attributes.get("hx-ws:connect") or attributes.get("ws-connect") or self.socket
        if attributes.get("hx-get") and "tick" in attributes.get("hx-trigger", "").split():
            self.tick_urls.append(attributes["hx-get"])
        if attributes.get("data-src") and "chart" in attributes.get("class", "").split():
            self.charts.append((attributes.get("data-chart", ""), attributes["data-src"]))
        self._script = attributes.get("id", "") if tag == "script" else ""

    def handle_endtag(self, tag: str) -> None:
        self._script = ""

    def handle_data(self, data: str) -> None:
        if self._script:
            self.data[self._script] = data


def live_parts(html: str) -> tuple[str, list[str], list[Chart]]:
    """The path of a page's WebSocket, the URLs that it requests at each tick, and its charts."""
    parser = _LivePageParser()
    parser.feed(html)
    charts = [Chart(path) for _, path in parser.charts]
    for (key, _), chart in zip(parser.charts, charts, strict=True):
        if key in parser.data:
            chart.update(json.loads(parser.data[key]))
    return parser.socket, parser.tick_urls, charts


def one_user(site: Site, pages: Sequence[Page], rounds: int, seconds: float) -> Visits:
    """One user opens each page `rounds` times in random order, in at least `seconds`."""
    visits = Visits()
    order = [page for number in range(rounds) for page in _shuffled(pages, number)]
    begin = time.monotonic()
    with httpx.Client(base_url=site.url, timeout=TIMEOUT_S, trust_env=False) as client:
        for number, page in enumerate(order):
            time.sleep(max(0.0, begin + number * seconds / len(order) - time.monotonic()))
            cpu_s, at = site.web.precise_cpu_seconds(), time.perf_counter()
            try:
                answer = client.get(page.path, headers={"Cookie": site.cookies[0]})
            except httpx.HTTPError as error:
                visits.fail(page.key, type(error).__name__)
                continue
            _record(visits, page.key, answer, at)
            time.sleep(SETTLE_S)
            cost_s = site.web.precise_cpu_seconds() - cpu_s
            visits.cpu_ms.setdefault(page.key, []).append(cost_s * 1000)
    return visits


def _shuffled(pages: Sequence[Page], seed: int) -> list[Page]:
    return random.Random(seed).sample(list(pages), len(pages))


def _record(visits: Visits, key: str, answer: httpx.Response, at: float) -> None:
    visits.times_ms.setdefault(key, []).append((time.perf_counter() - at) * 1000)
    if answer.status_code != 200:
        visits.fail(key, f"the answer was {answer.status_code}")


def many_users(
    site: Site, pages: Sequence[Sequence[Page]], open_pages: Sequence[Page], seconds: float
) -> Visits:
    """For each list in `pages` a user opens one of its pages every 2 s.

    At the same time, browsers have `open_pages` open.
    """
    return asyncio.run(_Crowd(site, pages, open_pages, seconds).visit())


class _Crowd:
    def __init__(
        self,
        site: Site,
        pages: Sequence[Sequence[Page]],
        open_pages: Sequence[Page],
        seconds: float,
    ) -> None:
        self._site, self._seconds = site, seconds
        self._pages, self._open_pages = pages, open_pages
        self._visits = Visits()
        self._is_measuring = False

    async def visit(self) -> Visits:
        """Open all browsers, then run the users."""
        # uvicorn closes a connection after 5 s without a request; a request must not meet that.
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=None, keepalive_expiry=3
        )
        async with httpx.AsyncClient(
            base_url=self._site.url, timeout=TIMEOUT_S, trust_env=False, limits=limits
        ) as client:
            opened = [asyncio.Event() for _page in self._open_pages]
            browsers = [
                asyncio.create_task(self._browser(client, number, page, is_open))
                for number, (page, is_open) in enumerate(zip(self._open_pages, opened, strict=True))
            ]
            try:
                await asyncio.gather(*(is_open.wait() for is_open in opened))
                self._is_measuring = True
                await asyncio.gather(*(self._user(client, n) for n in range(len(self._pages))))
                self._is_measuring = False
            finally:
                for task in browsers:
                    task.cancel()
                await asyncio.gather(*browsers, return_exceptions=True)
        return self._visits

    async def _user(self, client: httpx.AsyncClient, number: int) -> None:
        """Open a page every 2 s, or at once if the previous page took longer."""
        cookie = self._cookie(number)
        begin = time.monotonic() + number * CLICK_S / len(self._pages)
        clicks = 0
        order: list[Page] = []
        while (due := begin + clicks * CLICK_S) < begin + self._seconds:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if not order:
                order = _shuffled(self._pages[number], number + 100 * clicks)
            await self._get(client, order.pop(), cookie)
            clicks += 1
            if time.monotonic() > begin + SECONDS_MAX * self._seconds:
                return  # the console is too slow to finish

    def _cookie(self, number: int) -> str:
        """The cookie of an account; several users may share one."""
        return self._site.cookies[number % len(self._site.cookies)]

    async def _get(self, client: httpx.AsyncClient, page: Page, cookie: str) -> None:
        at = time.perf_counter()
        try:
            answer = await client.get(page.path, headers={"Cookie": cookie})
        except httpx.HTTPError as error:
            self._visits.fail(page.key, type(error).__name__)
            return
        _record(self._visits, page.key, answer, at)

    async def _browser(
        self, client: httpx.AsyncClient, number: int, page: Page, is_open: asyncio.Event
    ) -> None:
        try:
            await self._keep_open(client, page, self._cookie(number), is_open)
        except (httpx.HTTPError, OSError, WebSocketException, ValueError) as error:
            self._visits.fail(PUSH, f"{page.path}: {type(error).__name__}: {error}")
        finally:
            is_open.set()

    async def _keep_open(
        self, client: httpx.AsyncClient, page: Page, cookie: str, is_open: asyncio.Event
    ) -> None:
        headers = {"Cookie": cookie}
        answer = await client.get(page.path, headers=headers)
        socket_path, tick_urls, charts = live_parts(answer.text)
        if answer.status_code != 200 or not socket_path:
            raise ValueError(f"{answer.status_code}, socket {socket_path!r}")
        arrivals: list[float] = []
        self._visits.arrivals_ms.append(arrivals)
        # A chart whose data are not in the page loads them at once.
        chart_times = {
            chart.path: time.monotonic() if chart.last_ms else -chart.pause_s for chart in charts
        }
        url = self._site.url.replace("http", "ws", 1) + socket_path
        async with connect(
            url, origin=self._site.url, additional_headers=headers, max_size=None, proxy=None
        ) as socket:
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_MESSAGE_S):
                    await socket.recv()
                await socket.send("drawn")
            is_open.set()
            async for _message in socket:
                if self._is_measuring:
                    arrivals.append(time.time() * 1000)
                await socket.send("drawn")
                for path in tick_urls:
                    await self._ask(client, path, headers)
                for chart in charts:
                    if time.monotonic() - chart_times[chart.path] > chart.pause_s:
                        chart_times[chart.path] = time.monotonic()
                        answer = await self._ask(client, chart.url(), headers)
                        if answer.status_code == 200:
                            chart.update(answer.json())
        raise ValueError("the server closed the WebSocket")

    async def _ask(
        self, client: httpx.AsyncClient, path: str, headers: Mapping[str, str]
    ) -> httpx.Response:
        """A request that an open page makes without the user."""
        answer = await client.get(httpx.URL(path), headers=headers)
        if answer.status_code != 200:
            self._visits.fail(PUSH, f"{path}: the answer was {answer.status_code}")
        return answer

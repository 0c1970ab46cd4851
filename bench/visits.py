"""People at a console: one who opens page after page, or many beside browsers that stand open.

A browser opens a page, connects the page's WebSocket (whose address says what the page shows and
which tick it has), acknowledges each message, and then asks for what the page itself says it asks
for at a tick: that is read from the page, so that old and new pages each cost what they cost. A
chart that tells how often it changes is asked for what is newer than its last point, as
older checkouts do. Whatever is not answered by 200 is a problem.
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
SECONDS_MAX = 2  # times what was asked for
TIMEOUT_S = 60.0
SETTLE_S = 0.02  # what a process does after its answer belongs to its cost
CHART_PAUSE_S = 15.0  # as static/app/chart.js
HELLO_S = 1.0  # a page that has the newest tick gets nothing before the next
PUSH = "push"
"""What the figures and problems of open browsers are called, as a page has its key."""


@dataclass(frozen=True, slots=True)
class Page:
    """One of the pages under measurement."""

    key: str
    path: str


@dataclass(slots=True)
class Visits:
    """What was found: times in milliseconds by page, and what went wrong first at each."""

    times_ms: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)
    """What each visit cost the web process; only where there was one at a time."""
    arrivals_ms: list[list[float]] = field(default_factory=list)
    """When each message after the first came, for each browser."""
    problems: dict[str, str] = field(default_factory=dict)

    def fail(self, key: str, problem: str) -> None:
        """Notes what went wrong at a page, if nothing did before."""
        self.problems.setdefault(key, problem)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that so large a share does not exceed. Raises ValueError for none."""
    found = sorted(values)
    if not found:
        raise ValueError("no value")
    return found[max(0, math.ceil(share * len(found)) - 1)]


def push_delays_ms(
    announced: Mapping[int, int], arrivals_ms: Iterable[Sequence[float]]
) -> list[float]:
    """From each tick's announcement to the first message that a browser got after it.

    A browser that got none before the next tick had nothing to wait for: it was busy drawing.
    """
    starts = sorted(announced.values())
    found = []
    for arrivals in arrivals_ms:
        for start, end in pairwise(starts):
            first = min((at for at in arrivals if start <= at < end), default=None)
            if first is not None:
                found.append(first - start)
    return found


@dataclass(slots=True)
class Chart:
    """A chart of an open page: where its data is, and its last point where it says how often it
    changes."""

    path: str
    pause_s: float = CHART_PAUSE_S
    last_ms: int | None = None

    def url(self) -> str:
        return self.path if self.last_ms is None else f"{self.path}&since={self.last_ms}"

    def note(self, spec: Mapping[str, Any]) -> None:
        """Takes in data of the chart, as the page has it or as it was answered."""
        if "step_ms" in spec and spec["series"]:
            self.last_ms = spec["series"][0]["x"][-1]
            self.pause_s = max(CHART_PAUSE_S, spec["step_ms"] / 1000)


class _Live(HTMLParser):
    """What a page does by itself: its WebSocket, and what it asks for at each tick."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = ""
        self.at_ticks: list[str] = []
        self.charts: list[tuple[str, str]] = []  # the id of its data ("" = none), and its URL
        self.data: dict[str, str] = {}
        self._script = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.socket = found.get("hx-ws:connect") or found.get("ws-connect") or self.socket
        if found.get("hx-get") and "tick" in found.get("hx-trigger", "").split():
            self.at_ticks.append(found["hx-get"])
        if found.get("data-src") and "chart" in found.get("class", "").split():
            self.charts.append((found.get("data-chart", ""), found["data-src"]))
        self._script = found.get("id", "") if tag == "script" else ""

    def handle_endtag(self, tag: str) -> None:
        self._script = ""

    def handle_data(self, data: str) -> None:
        if self._script:
            self.data[self._script] = data


def live_parts(html: str) -> tuple[str, list[str], list[Chart]]:
    """The path of a page's WebSocket, what it asks for at each tick, and its charts."""
    parser = _Live()
    parser.feed(html)
    charts = [Chart(path) for _, path in parser.charts]
    for (key, _), drawn in zip(parser.charts, charts, strict=True):
        if key in parser.data:
            drawn.note(json.loads(parser.data[key]))
    return parser.socket, parser.at_ticks, charts


def one_user(site: Site, pages: Sequence[Page], rounds: int, seconds: float) -> Visits:
    """Each page so many times, in an order that changes, spread over at least so many seconds."""
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
            _note(visits, page.key, answer, at)
            time.sleep(SETTLE_S)
            cost_s = site.web.precise_cpu_seconds() - cpu_s
            visits.cpu_ms.setdefault(page.key, []).append(cost_s * 1000)
    return visits


def _shuffled(pages: Sequence[Page], seed: int) -> list[Page]:
    return random.Random(seed).sample(list(pages), len(pages))


def _note(visits: Visits, key: str, answer: httpx.Response, at: float) -> None:
    visits.times_ms.setdefault(key, []).append((time.perf_counter() - at) * 1000)
    if answer.status_code != 200:
        visits.fail(key, f"the answer was {answer.status_code}")


def many_users(
    site: Site, pages: Sequence[Sequence[Page]], open_pages: Sequence[Page], seconds: float
) -> Visits:
    """A user for each of `pages` clicks there every 2 s; `open_pages` stand open meanwhile."""
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
        self._measured = False

    async def visit(self) -> Visits:
        """Opens all browsers, then lets the users click."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
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
                self._measured = True
                await asyncio.gather(*(self._user(client, n) for n in range(len(self._pages))))
                self._measured = False
            finally:
                for task in browsers:
                    task.cancel()
                await asyncio.gather(*browsers, return_exceptions=True)
        return self._visits

    async def _user(self, client: httpx.AsyncClient, number: int) -> None:
        """A click every 2 s, or at once when the page before took longer."""
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
                return  # it is so slow that what was found must do

    def _cookie(self, number: int) -> str:
        """Of a signed-in user; there may be more people than accounts."""
        return self._site.cookies[number % len(self._site.cookies)]

    async def _get(self, client: httpx.AsyncClient, page: Page, cookie: str) -> None:
        at = time.perf_counter()
        try:
            answer = await client.get(page.path, headers={"Cookie": cookie})
        except httpx.HTTPError as error:
            self._visits.fail(page.key, type(error).__name__)
            return
        _note(self._visits, page.key, answer, at)

    async def _browser(
        self, client: httpx.AsyncClient, number: int, page: Page, is_open: asyncio.Event
    ) -> None:
        try:
            await self._live(client, page, self._cookie(number), is_open)
        except (httpx.HTTPError, OSError, WebSocketException, ValueError) as error:
            self._visits.fail(PUSH, f"{page.path}: {type(error).__name__}: {error}")
        finally:
            is_open.set()

    async def _live(
        self, client: httpx.AsyncClient, page: Page, cookie: str, is_open: asyncio.Event
    ) -> None:
        headers = {"Cookie": cookie}
        answer = await client.get(page.path, headers=headers)
        socket_path, at_ticks, charts = live_parts(answer.text)
        if answer.status_code != 200 or not socket_path:
            raise ValueError(f"{answer.status_code}, socket {socket_path!r}")
        arrivals: list[float] = []
        self._visits.arrivals_ms.append(arrivals)
        # A chart whose data are not in the page loads them at once.
        charted = {
            chart.path: time.monotonic() if chart.last_ms else -chart.pause_s for chart in charts
        }
        url = self._site.url.replace("http", "ws", 1) + socket_path
        async with connect(
            url, origin=self._site.url, additional_headers=headers, max_size=None, proxy=None
        ) as socket:
            with suppress(TimeoutError):
                async with asyncio.timeout(HELLO_S):
                    await socket.recv()
                await socket.send("drawn")
            is_open.set()
            async for _message in socket:
                if self._measured:
                    arrivals.append(time.time() * 1000)
                await socket.send("drawn")
                for path in at_ticks:
                    await self._ask(client, path, headers)
                for chart in charts:
                    if time.monotonic() - charted[chart.path] > chart.pause_s:
                        charted[chart.path] = time.monotonic()
                        answer = await self._ask(client, chart.url(), headers)
                        if answer.status_code == 200:
                            chart.note(answer.json())
        raise ValueError("its socket was closed")

    async def _ask(
        self, client: httpx.AsyncClient, path: str, headers: Mapping[str, str]
    ) -> httpx.Response:
        """What an open page asks for by itself."""
        answer = await client.get(httpx.URL(path), headers=headers)
        if answer.status_code != 200:
            self._visits.fail(PUSH, f"{path}: the answer was {answer.status_code}")
        return answer

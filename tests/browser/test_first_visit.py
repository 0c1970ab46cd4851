"""What the first visit of a page moves and when it can be used: charts come last, nothing jumps."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import environment_of
from tests.browser.pages import PAGES, begin, put
from tests.browser.test_live_tables import requests_of, tick, until
from tests.browser.test_pages import _ticks  # noqa: F401  (a fixture)
from tests.support.redis import RedisServer
from tests.support.web import REPOSITORY, context_of, served

KB = 1000
WITH_CHARTS = ("/c/local/", "/c/local/topics/orders", "/c/local/groups/billing")
PLOTLY = "performance.getEntriesByType('resource').filter(e => e.name.includes('plotly-'))"


def scroll_to_charts(page: Page) -> None:
    page.locator(".chart").first.scroll_into_view_if_needed()


def is_drawn(page: Page) -> None:
    expect(page.locator(".chart .main-svg").first).to_be_visible()


def test_plotly_is_loaded_after_the_page_has_been_painted_and_has_all_it_needs(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing")
    is_drawn(page)
    [started, painted, loaded] = page.evaluate(
        f"""[{PLOTLY}[0].startTime, performance.getEntriesByType('paint').at(-1).startTime,
            performance.getEntriesByType('navigation')[0].loadEventEnd]"""
    )
    assert started > painted
    assert started > loaded


@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_is_painted_with_its_rows_in_place_before_htmx_has_come(page_as, width):
    page = page_as("viewer", width)
    held: list = []
    page.route("**/htmx-4*.js", lambda route: held.append(route))
    page.goto("/c/local/topics", wait_until="commit")
    expect(page.locator("#topics tbody tr").first).to_be_visible()
    painted = "performance.getEntriesByType('paint').length > 0"
    until(page, lambda: page.evaluate(painted), "the page is painted")
    expect(page.locator("#topics table.is-stacked")).to_have_count(1 if width == 390 else 0)
    until(page, lambda: held, "the script is held")
    held[0].continue_()
    expect(page.locator("#live-status .status-text")).to_have_text("Live")


def test_plotly_is_loaded_only_where_a_chart_is_in_view(page_as):
    page = page_as("viewer", width=390)
    page.goto("/c/local/")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(f"{PLOTLY}.length") == 0
    scroll_to_charts(page)
    is_drawn(page)
    assert page.evaluate(f"{PLOTLY}.length") == 1


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("path", WITH_CHARTS)
def test_nothing_moves_when_a_chart_takes_the_place_of_its_frame(page_as, path, width):
    page = page_as("viewer", width)
    held: list = []
    page.route("**/plotly-*.js", lambda route: held.append(route))
    page.goto(path)
    with page.expect_request("**/plotly-*.js"):
        scroll_to_charts(page)
    expect(page.locator(".chart-frame").first).to_be_visible()
    boxes = "[...document.querySelectorAll('.card, .chart')].map(e => e.getBoundingClientRect())"
    before = page.evaluate(boxes)
    until(page, lambda: held, "the script is held")
    expect(page.locator(".chart-frame path").first).to_have_attribute("d", re.compile("^M"))
    held[0].continue_()
    is_drawn(page)
    expect(page.locator(".chart:has(.main-svg) .chart-frame")).to_have_count(0)
    assert page.evaluate(boxes) == before


def test_a_chart_without_values_has_a_note_and_no_plotly(page_as):
    page = page_as("viewer")
    page.goto("/c/local/brokers/1")
    page.locator(".chart").last.scroll_into_view_if_needed()
    expect(page.locator(".chart").last).to_have_text("No values in this time")


def test_without_scripts_a_chart_is_a_frame_with_a_way_to_its_values(
    site: str, chromium: Browser, sessions: Callable[[str], list]
):
    with context_of(chromium, base_url=site, java_script_enabled=False) as context:
        context.add_cookies(sessions("viewer"))
        page = context.new_page()
        page.goto("/c/local/groups/billing")
        expect(page.locator(".chart-frame").first).to_be_visible()
        page.locator("noscript a", has_text="as JSON").first.click()
        expect(page.locator("pre")).to_contain_text('"series"')


def frames_of(page: Page) -> list:
    """What its sockets receive from now on."""
    got: list = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda text: got.append(text)))
    return got


def test_a_page_asks_for_nothing_that_it_has_just_been_sent(page_as):
    watched = page_as("admin")
    watched.goto("/c/local/topics")
    for number, path in enumerate(path for path in PAGES if path.startswith("/c/local/")):
        newest = 5000 + number
        tick(newest)
        # The console knows this tick.
        expect(watched.locator("#topics")).to_contain_text(f"{2 * newest:,}".replace(",", "\u202f"))
        page = watched.context.new_page()
        got = frames_of(page)
        with page.expect_websocket():
            page.goto(path)
        asked = requests_of(page)
        page.wait_for_timeout(1000)  # nothing comes: there is nothing to wait for
        assert (path, got, asked) == (path, [], [])
        page.close()


@pytest.fixture(scope="module")
def collected_site(
    seeded: Path, _redis_process: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A console with its static files collected and compressed, as `manage.py prepare` does."""
    data = tmp_path_factory.mktemp("collected")
    shutil.copytree(seeded, data, dirs_exist_ok=True)
    begin()
    environment = environment_of(data)
    collect = "from console import static_files; static_files.collect()"
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", collect]
    subprocess.run(command, cwd=REPOSITORY, env=os.environ | environment, check=True)
    with served(environment, data / "web.log") as url:
        yield url


def moved_bytes(page: Page, visit: Callable[[], object]) -> int:
    """What the browser receives while it visits, as it is compressed, headers included."""
    sizes: list[int] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda end: sizes.append(end["encodedDataLength"]))
    visit()
    page.wait_for_load_state("networkidle")
    return int(sum(sizes))


@pytest.mark.parametrize(
    ("path", "most"), [("/c/local/topics", 250), ("/c/local/groups/billing", 700)]
)
def test_a_first_visit_moves_little(collected_site, chromium, path, most):
    with context_of(chromium, base_url=collected_site) as context:
        page = context.new_page()
        page.goto("/login")
        page.fill("#id_username", "viewer")
        page.fill("#id_password", "viewer-password")
        page.click("button[type=submit]")
        cookies = context.cookies()
    put()
    with context_of(chromium, base_url=collected_site) as context:
        context.add_cookies(cookies)
        page = context.new_page()

        def visit() -> None:
            page.goto(path)
            if page.locator(".chart").count():
                scroll_to_charts(page)
                is_drawn(page)

        moved = moved_bytes(page, visit)
    assert 50 * KB < moved < most * KB


def test_a_page_has_one_stylesheet(collected_site, chromium):
    with context_of(chromium, base_url=collected_site) as context:
        page = context.new_page()
        page.goto("/login")
        expect(page.locator("link[rel=stylesheet]")).to_have_count(1)
        assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith('"Inter')

"""The requests of a broker in a browser: asked for again while the page is visible."""

import pytest
from playwright.sync_api import Page, expect

from monitoring.egress.models import EgressTarget
from tests.browser.faults import faults
from tests.browser.test_live_tables import requests_of, set_hidden, until
from tests.console.conftest import a_user, sample
from tests.support.live_cluster import LiveCluster
from tests.support.web import sign_in

PATH = "/c/local/brokers/1/requests"


@pytest.fixture
def requests_page(web, page, live_cluster: LiveCluster) -> Page:
    """The page of a real broker, opened by a viewer. Its clock stands until a test runs it."""
    live_cluster.ask_each_broker()
    live_cluster.row("local").save()
    EgressTarget.objects.create(host="127.0.0.1", purpose=EgressTarget.Purpose.ADMIN_PORT)
    sample("local")
    sign_in(page, web, a_user("reader", "viewer"))
    page.clock.install()
    page.goto(f"{web}{PATH}")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_table_has_no_faults_and_becomes_that_of_the_last_seconds(requests_page, scheme):
    page = requests_page
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("#requests")).to_contain_text("since the broker's start")
    assert faults(page) == []
    page.click("text=Errors")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Errors")
    page.wait_for_timeout(5_500)  # readings are compared over at least five seconds
    page.clock.run_for(10_500)
    expect(page.locator("#requests")).to_contain_text("of the last")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Errors")
    assert faults(page) == []


def test_a_hidden_tab_does_not_ask(requests_page):
    page = requests_page
    asked = requests_of(page)
    set_hidden(page, True)
    page.clock.run_for(40_000)
    assert not [url for url in asked if url.endswith(PATH)]
    set_hidden(page, False)
    page.clock.run_for(10_500)
    until(page, lambda: [url for url in asked if url.endswith(PATH)], "the page asks again")


def test_a_phone_shows_every_figure_and_nothing_leaves_the_screen(requests_page):
    page = requests_page
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#requests tbody tr").first).to_contain_text("/s")
    expect(page.locator("#requests td[data-label='p99']").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

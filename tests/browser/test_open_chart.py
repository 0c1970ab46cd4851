"""What an open chart asks for as ticks come.

On a site of its own, whose ticks are no later than the clock: charts end at the present.
"""

from datetime import datetime

from playwright.sync_api import expect

from tests.browser.pages import put_at_least
from tests.browser.test_live_tables import requests_of, tick
from tests.browser.test_pages import _ticks  # noqa: F401  (a fixture)


def test_an_open_chart_asks_for_what_is_newer_than_it_has_and_stays_one_line(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing?range=15m")
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    drawn = "[...document.querySelector('.chart').data].map(line => line.x)"
    [line] = page.evaluate(drawn)
    put_at_least(datetime.fromisoformat(f"{line[-1]}+00:00"))
    asked = requests_of(page)
    tick(1300)
    expect(page.locator("#live-group-stats")).to_contain_text("2\u202f600")
    assert asked == [], "so soon it would show nothing new"
    page.evaluate("const now = Date.now.bind(Date); Date.now = () => now() + 60_000")
    with page.expect_response(lambda answer: "group-lag" in answer.url) as answered:
        tick(1400)
    assert "since=" in answered.value.url
    assert "kind" not in answered.value.json()
    [line] = page.evaluate(drawn)
    assert line == sorted(set(line))
    assert len(line) == 181

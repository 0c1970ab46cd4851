"""When an open chart is loaded again."""

from playwright.sync_api import expect

from tests.browser.test_live_tables import requests_of, tick
from tests.browser.test_pages import _ticks  # noqa: F401  (a fixture)


def test_an_open_chart_is_loaded_again_when_it_would_change(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing?range=15m")
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    asked = requests_of(page)
    tick(1300)
    expect(page.locator("#live-group-stats")).to_contain_text("2\u202f600")
    assert asked == [], "so soon it would show nothing new"
    page.evaluate("const now = Date.now.bind(Date); Date.now = () => now() + 60_000")
    with page.expect_response(lambda answer: "show=lag" in answer.url) as answered:
        tick(1400)
    assert answered.value.json()["series"][0]["name"] == "orders"
    expect(page.locator(".chart .main-svg").first).to_be_visible()

"""A query is saved, opened, renamed and deleted by its menu, as people do it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import faults
from tests.browser.pages import put


@pytest.fixture(autouse=True)
def _ticks(redis_server, site):
    put("local")


def menu(page: Page):
    page.get_by_text("Saved queries", exact=True).first.click()
    return page.locator(".saved-queries")


def test_a_query_is_saved_opened_renamed_and_deleted(page_as):
    page = page_as("operator")
    page.goto("/c/local/topics")
    page.get_by_role("link", name="Idle now").click()
    opened = menu(page)
    opened.get_by_label("Name of the query").fill("Quiet ones")
    opened.get_by_role("button", name="Save this query").click()
    expect(page.get_by_text("The query “Quiet ones” was saved.")).to_be_visible()
    page.goto("/c/local/topics")
    menu(page).get_by_role("link", name="Quiet ones", exact=True).click()
    expect(page).to_have_url(re.compile(r"/topics\?show=idle$"))
    menu(page).get_by_label("Rename or delete Quiet ones").click()
    page.get_by_role("textbox", name="Name").fill("Idle ones")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The query “Idle ones” was changed.")).to_be_visible()
    menu(page).get_by_label("Rename or delete Idle ones").click()
    page.get_by_role("button", name="Delete this query").click()
    expect(page).to_have_url(re.compile(r"/c/local/topics$"))
    expect(menu(page).get_by_text("No saved query yet")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light")])
def test_the_open_menu_has_no_fault_and_stays_within_the_window(page_as, width, scheme):
    page = page_as("operator", width=width, scheme=scheme)
    for path in ("topics?sort=-size", "groups?q=b", "topics/orders/messages/search?text=x"):
        page.goto(f"/c/local/{path}")
        box = menu(page).locator(".dropdown-menu").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert faults(page) == []

"""The palette in a browser: opened, searched and left by keys alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import faults
from tests.browser.pages import put


@pytest.fixture
def page(page_as):
    put("local")
    put("staging")
    page = page_as("admin")
    page.goto("/c/local/topics")
    return page


def test_a_topic_is_opened_by_keys(page):
    page.keyboard.press("/")
    expect(page.locator("#palette-text")).to_be_focused()
    page.keyboard.type("orders")
    first = page.locator("#palette-list [role=option]").first
    expect(first).to_contain_text("orders")
    expect(first).to_have_attribute("aria-selected", "true")
    expect(page.locator("#palette-text")).to_have_attribute(
        "aria-activedescendant", re.compile(".")
    )
    expect(page.locator("#palette-list mark").first).to_have_text("orders")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/*/topics/orders")


def test_tab_shows_the_actions_on_a_row_and_escape_goes_back(page):
    page.keyboard.press("Control+k")
    page.keyboard.type("billing")
    expect(page.locator("#palette-list mark").first).to_have_text("billing")
    page.keyboard.press("Tab")
    expect(page.locator("#palette-list [role=option]")).to_have_text(
        [re.compile("Reset offsets"), re.compile("Delete offsets"), re.compile("Delete the group")]
    )
    page.keyboard.press("Escape")
    expect(page.locator("#palette-list mark").first).to_have_text("billing")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/group-delete/billing")


def test_the_form_of_an_action_is_opened_by_its_words_and_a_name_however_fast(page):
    page.keyboard.press("Control+k")
    page.keyboard.type("reset billing")
    page.keyboard.press("Enter")  # before its results have come
    page.wait_for_url("**/c/local/group-reset/billing")


def test_an_action_is_on_the_group_of_the_page(page):
    page.goto("/c/local/groups/auditors")
    page.keyboard.press("/")
    page.keyboard.type("reset")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/local/group-reset/auditors")


def test_a_field_that_an_action_is_about_has_the_focus(page):
    page.keyboard.press("/")
    page.keyboard.type("search records orders")
    page.keyboard.press("Enter")
    page.wait_for_url("**/topics/orders/messages/search#id_text")
    expect(page.locator("#id_text")).to_be_focused()


def test_escape_closes_and_gives_the_focus_back(page):
    page.locator("[data-find]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page.locator("[data-find]")).to_be_focused()


@pytest.mark.parametrize(
    ("key", "path"),
    [("t", "topics"), ("g", "groups"), ("b", "brokers"), ("o", ""), ("a", "alerts")],
)
def test_g_and_a_letter_open_a_page(page, key, path):
    page.goto("/c/local/reports")
    page.keyboard.press("g")
    page.keyboard.press(key)
    page.wait_for_url(f"**/c/local/{path}")


def test_a_question_mark_lists_the_keys(page):
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_keys_do_nothing_while_someone_types(page):
    page.locator("input[name=q]").focus()
    page.keyboard.type("/?gt")
    expect(page.locator("input[name=q]")).to_have_value("/?gt")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_on_a_phone_it_is_a_full_sheet(page_as):
    page = page_as("viewer", width=390)
    page.goto("/c/local/")
    page.locator("[data-find]").click()
    box = page.locator("#palette").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 900)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_palette_and_the_page_of_results_have_no_fault(page_as, scheme):
    put("local")
    page = page_as("admin", scheme=scheme)
    page.goto("/search?q=o")
    assert faults(page) == []
    page.keyboard.press("/")
    page.keyboard.type("o")
    expect(page.locator("#palette-list mark").first).to_be_visible()
    assert faults(page) == []

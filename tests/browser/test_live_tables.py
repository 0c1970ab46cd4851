"""What an open list does as ticks come: its rows move by the socket, and a hidden tab rests."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import announce, put
from tests.browser.test_pages import _ticks  # noqa: F401  (a fixture)
from tests.console.conftest import GROUPS, PARTITIONS
from tests.support.waiting import wait_until

LISTS = {
    "topics": ("#topics", 2),
    "topics/orders": ("#partitions", 1),
    "topics/orders/consumers": ("#readers", 2),
    "groups": ("#groups", 2),
}
"""The paths, where their rows stand, and of how many partitions a row adds up the offsets."""


def tick(end: int) -> None:
    """A tick in which every partition ends there and nothing is committed beyond 0."""
    told = {"log_end_offset": end}
    partitions = [row | told for row in PARTITIONS]
    groups = [row | told | {"committed_offset": 0} for row in GROUPS]
    announce("local", put(partitions=partitions, groups=groups))


def requests_of(page: Page) -> list[str]:
    """What a page asks for once it has all that it needs, files apart."""
    page.wait_for_load_state("networkidle")  # charts that come into view are loaded late
    found: list[str] = []
    page.on("request", lambda asked: None if "/static/" in asked.url else found.append(asked.url))
    return found


def sockets_of(page: Page) -> list:
    found: list = []
    page.on("websocket", lambda socket: found.append(socket))
    return found


def set_hidden(page: Page, hidden: bool) -> None:
    """As when the person looks at another tab; a browser without a screen has none to hide."""
    state = "true" if hidden else "false"
    page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{configurable: true, get: () => {state}}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )


def until(page: Page, condition: Callable[[], object], what: str) -> None:
    """Waits while the browser's events are heard, which a sleep would hold up."""
    wait_until(lambda: condition() or page.wait_for_timeout(20), what, 60)


@pytest.mark.parametrize("path", LISTS)
def test_rows_move_with_the_tick_and_the_page_is_not_asked_for_again(page_as, path):
    where, partitions = LISTS[path]
    page = page_as("viewer")
    page.goto(f"/c/local/{path}")
    asked = requests_of(page)
    for end in (300, 400):
        tick(end)
        expect(page.locator(f"{where} tbody tr").first).to_contain_text(str(end * partitions))
    assert asked == []


def test_brokers_and_alerts_move_with_the_tick_and_are_not_asked_for_again(page_as):
    page = page_as("viewer")
    for path, where in (("brokers", "#brokers"), ("alerts", "#alerts"), ("alerts/rules", "#rules")):
        page.goto(f"/c/local/{path}")
        page.evaluate(f"document.querySelector('{where}').firstElementChild.dataset.old = 'yes'")
        asked = requests_of(page)
        tick(500)
        expect(page.locator("[data-old]")).to_have_count(0)
        assert asked == []


def test_a_list_keeps_its_order_and_search_as_ticks_come(page_as):
    page = page_as("admin")
    page.goto("/c/local/topics?sort=-name&q=o")
    names = page.locator("#topics td.name")
    before = names.all_inner_texts()
    assert before == sorted(before, reverse=True)
    assert len(before) > 1
    tick(600)
    expect(page.locator("#topics")).to_contain_text("1\u202f200")
    assert names.all_inner_texts() == before
    sort = page.locator("#topics th a", has_text="Topic")
    expect(sort).to_have_attribute("href", re.compile("q=o"))
    sort.click()
    expect(page).to_have_url(re.compile("sort=name"))
    tick(700)
    expect(page.locator("#topics")).to_contain_text("1\u202f400")
    assert names.all_inner_texts() == before[::-1]


def test_what_was_searched_for_is_what_ticks_bring_and_the_field_keeps_the_focus(page_as):
    page = page_as("admin")
    sockets = sockets_of(page)
    page.goto("/c/local/topics")
    page.fill("input[name=q]", "audit")
    expect(page.locator("#topics tbody tr")).to_have_count(1)
    until(page, lambda: len(sockets) == 2, "the search has a socket of its own")
    assert "q%3Daudit" in sockets[1].url or "q=audit" in sockets[1].url
    tick(800)
    expect(page.locator("#topics")).to_contain_text("800")
    expect(page.locator("#topics tbody tr")).to_have_count(1)
    expect(page.locator("input[name=q]")).to_be_focused()
    expect(page.locator("input[name=q]")).to_have_value("audit")
    until(page, sockets[0].is_closed, "the socket of the page before is closed")


def test_a_page_gets_nothing_again_that_it_has_just_loaded(page_as):
    page = page_as("viewer")
    got: list = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda text: got.append(text)))
    page.goto("/c/local/topics")
    tick(890)
    expect(page.locator("#topics")).to_contain_text("1\u202f780")
    got.clear()
    with page.expect_websocket():
        page.reload()  # the console knows no newer tick than this page
    asked = requests_of(page)
    tick(900)
    expect(page.locator("#topics")).to_contain_text("1\u202f800")
    assert len(got) == 1
    assert asked == []


def test_a_hidden_tab_gets_nothing_and_the_newest_at_once_when_it_is_shown(page_as):
    page = page_as("viewer")
    sockets = sockets_of(page)
    with page.expect_websocket():
        page.goto("/c/local/groups/billing")
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    set_hidden(page, True)
    until(page, sockets[0].is_closed, "the hidden tab has closed its socket")
    asked = requests_of(page)
    shown = page.locator("#live-group-stats").inner_text()
    for end in (1000, 1100):
        tick(end)
    page.wait_for_timeout(1500)  # nothing comes: there is nothing to wait for
    assert page.locator("#live-group-stats").inner_text().split("·")[0] == shown.split("·")[0]
    assert (len(sockets), asked) == (1, [])
    set_hidden(page, False)
    expect(page.locator("#live-group-stats")).to_contain_text("2\u202f200")
    assert len(sockets) == 2
    expect(page.locator("#live-status .status-text")).to_have_text("Live")


def test_a_tab_that_is_opened_hidden_connects_when_it_is_shown(page_as):
    page = page_as("viewer")
    hidden = "{configurable: true, get: () => true}"
    page.add_init_script(f"Object.defineProperty(document, 'hidden', {hidden})")
    sockets = sockets_of(page)
    page.goto("/c/local/topics")
    page.wait_for_timeout(1000)
    assert sockets == []
    tick(1200)
    set_hidden(page, False)
    expect(page.locator("#topics")).to_contain_text("2\u202f400")


def test_a_hidden_tab_asks_for_nothing_by_the_clock_either(page_as):
    page = page_as("viewer")
    page.goto("/c/local/topics")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend',"
        "`<div id='poll' hx-get='/c/local/live-status' hx-trigger='every 200ms' hx-swap='none'>`);"
        "htmx.process(document.getElementById('poll'))"
    )
    with page.expect_request("**/live-status"):
        pass
    set_hidden(page, True)
    page.wait_for_timeout(300)  # what was under way
    asked = requests_of(page)
    page.wait_for_timeout(1500)
    assert asked == []
    with page.expect_request("**/live-status"):
        set_hidden(page, False)


def test_the_ages_of_a_hidden_tab_rest_and_are_true_when_it_is_shown(page_as):
    page = page_as("viewer")
    page.goto("/c/local/topics")
    set_hidden(page, True)
    age = page.locator("#live-status time.age")
    age.evaluate("e => { e.textContent = 'as it was' }")
    page.wait_for_timeout(1500)  # nothing comes: there is nothing to wait for
    expect(age).to_have_text("as it was")
    set_hidden(page, False)
    expect(age).not_to_have_text("as it was")


def test_focus_selection_and_place_on_the_page_survive_a_tick(page_as):
    page = page_as("viewer")
    page.set_viewport_size({"width": 900, "height": 300})
    page.goto("/c/local/topics")
    page.locator("#topics th a").nth(2).focus()
    page.evaluate(
        "getSelection().selectAllChildren(document.querySelector('#topics td.name'));"
        "scrollTo(0, 60)"
    )
    kept = "[String(getSelection()), document.activeElement.textContent, scrollY]"
    before = page.evaluate(kept)
    assert before[0] == "orders"
    tick(1500)
    expect(page.locator("#topics")).to_contain_text("3\u202f000")
    assert page.evaluate(kept) == before


def test_selected_topics_stay_selected_when_a_tick_comes(page_as):
    page = page_as("operator")
    page.goto("/c/local/topics?columns=offsets")
    box = page.get_by_label("Select orders")
    box.check()
    expect(page.locator("[data-selected]")).to_have_text("1")
    tick(777)
    row = page.locator("#topics tr", has=box)
    expect(row).to_contain_text(re.compile("1\\D?554"))
    expect(box).to_be_checked()
    expect(page.locator("#selection button").first).to_be_enabled()

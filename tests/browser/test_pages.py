"""Each page in a real browser: no complaint of the browser, nothing wider than the screen, and
the look that all of Tabler gives it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import faults, unreadable
from tests.browser.full_tabler import differences
from tests.browser.pages import FOR_ADMINS, FOR_OPERATORS, PAGES, announce, put
from tests.console.conftest import GROUPS, PARTITIONS


@pytest.fixture(autouse=True)
def _ticks(redis_server, site):
    put("local")
    put("staging")


# As what a page is looked at; it is loaded as the first and is the others one after the other.
LOOKS = ((1440, "light"), (390, "light"), (390, "dark"), (1440, "dark"))
DESK, PHONE = (1440, "light"), (390, "dark")
SHOWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def open_page(page: Page, path: str) -> None:
    answer = page.goto(path)
    assert answer is not None
    assert answer.status == 200
    expect(page.locator("h1")).to_have_count(1)
    is_not_wider(page, path)


def is_not_wider(page: Page, path: str) -> None:
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0, f"{path} is {wider} px wider than the screen"


def change_to(page: Page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colours on their way
    page.evaluate(SHOWN)


def test_every_page_stands_in_light_and_dark_on_desk_and_phone(page_as):
    page = page_as("admin")
    found = {}
    for number, path in enumerate(PAGES + FOR_OPERATORS + FOR_ADMINS):
        # Half of the pages are loaded on a phone, in dark, the others become so.
        looks = LOOKS if number % 2 == 0 else LOOKS[2:] + LOOKS[:2]
        change_to(page, *looks[0])
        open_page(page, path)
        for look in looks:
            change_to(page, *look)
            assert page.evaluate("document.documentElement.dataset.bsTheme") == look[1]
            is_not_wider(page, path)
            if look in (DESK, PHONE):
                found[path, look] = faults(page) + differences(page)
            else:
                found[path, look] = unreadable(page)
    assert {where: wrong for where, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("role", "opened", "refused"),
    [("viewer", PAGES, FOR_OPERATORS + FOR_ADMINS), ("operator", FOR_OPERATORS, FOR_ADMINS)],
)
def test_every_page_of_a_role_opens_and_the_others_are_refused_politely(
    page_as, role, opened, refused
):
    page = page_as(role)
    for path in opened:
        open_page(page, path)
    for path in refused[:-1]:
        answer = page.request.get(path)
        assert (answer.status, "Not allowed" in answer.text()) == (403, True), path
    assert page.goto(refused[-1]).status == 403
    expect(page.locator("h1")).to_have_text("Not allowed")


def test_a_stranger_is_asked_to_sign_in_and_led_back(page_as):
    page = page_as("")
    page.goto("/c/local/groups")
    expect(page).to_have_url(re.compile("/login"))
    page.fill("#id_username", "viewer")
    page.fill("#id_password", "wrong")
    page.click("button[type=submit]")
    expect(page.locator(".alert-danger")).to_be_visible()
    page.fill("#id_password", "viewer-password")
    page.click("button[type=submit]")
    expect(page).to_have_url(re.compile("/c/local/groups$"))


def test_someone_without_a_role_is_reported_what_to_do(page_as):
    page = page_as("outsider")
    page.goto("/")
    expect(page.locator("h1")).to_have_text("No access yet")
    assert page.goto("/c/local/").status == 404


def test_figures_arrive_by_themselves_and_nothing_jumps(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing")
    lag = page.locator("#live-group-stats .stat-value").first
    expect(lag).to_have_text("80")
    before = lag.bounding_box()
    number = put(groups=[row | {"committed_offset": 0} for row in GROUPS])
    announce("local", number)
    expect(lag).to_have_text("200")
    assert lag.bounding_box() == before


def test_a_table_keeps_its_search_while_ticks_arrive(page_as):
    page = page_as("viewer")
    page.goto("/c/local/topics?internal=1&columns=offsets")
    page.fill("input[name=q]", "ord")
    expect(page.locator("#topics tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=ord"))
    rows = [row | {"log_end_offset": 777} for row in PARTITIONS]
    announce("local", put(partitions=rows))
    expect(page.locator("#topics tbody tr")).to_contain_text("1\u202f554")
    expect(page.locator("#topics tbody tr")).to_have_count(1)
    expect(page.locator("input[name=q]")).to_have_value("ord")
    page.reload()
    expect(page.locator("input[name=q]")).to_have_value("ord")


def test_an_open_page_whose_session_ended_goes_to_the_sign_in(page_as):
    page = page_as("")  # the others share a session
    page.goto("/login?next=/c/local/topics")
    page.fill("#id_username", "viewer")
    page.fill("#id_password", "viewer-password")
    page.click("button[type=submit]")
    expect(page.locator("#topics tbody tr")).to_have_count(1)
    other = page.context.new_page()
    other.goto("/c/local/")
    other.click(".side-foot details summary")
    other.click(".side-foot form button")
    expect(other).to_have_url(re.compile("/login"))
    announce("local", put())
    expect(page).to_have_url(re.compile("/login\\?next=.*topics"), timeout=30_000)


def test_a_server_that_fails_leaves_the_table_as_it_was(page_as):
    page = page_as("viewer")
    page.goto("/c/local/topics")
    page.route("**/topics?q=*", lambda route: route.fulfill(status=503, body="no"))
    with page.expect_response(lambda answer: answer.status == 503):
        page.fill("input[name=q]", "nothing is called so")
    expect(page.locator("#topics tbody tr")).to_have_count(1)


def test_a_cluster_that_goes_down_raises_its_banner_and_comes_back(page_as):
    page = page_as("viewer")
    page.goto("/c/local/")
    number = put(status="gap", reason="No broker answers.", partitions=[], groups=[])
    announce("local", number)
    expect(page.locator("#live-banner .alert-danger")).to_contain_text("No broker answers.")
    announce("local", put())
    expect(page.locator("#live-banner .alert-danger")).to_have_count(0)


def test_the_sidebar_opens_on_a_phone_and_closes_with_escape(page_as):
    page = page_as("viewer", width=390)
    page.goto("/c/local/")
    link = page.locator(".menu-link", has_text="Topics")
    expect(link).not_to_be_visible()
    page.click("[data-toggle-sidebar]")
    expect(link).to_be_visible()
    page.keyboard.press("Escape")
    expect(link).not_to_be_visible()


def test_the_theme_is_chosen_and_kept(page_as):
    page = page_as("viewer")
    page.goto("/c/local/")
    theme = "document.documentElement.dataset.bsTheme"
    page.click("[data-theme-toggle]")  # from "as the system" to light
    page.click("[data-theme-toggle]")
    assert page.evaluate(theme) == "dark"
    page.goto("/c/local/topics")
    assert page.evaluate(theme) == "dark"


@pytest.mark.parametrize("list_", ["groups", "topics"])
def test_a_phone_shows_every_column_of_a_row_before_and_after_a_tick(page_as, list_):
    page = page_as("viewer", width=390)
    page.goto(f"/c/local/{list_}")
    titles = [text.strip() for text in page.locator(f"#{list_} th").all_text_contents()]
    cells = page.locator(f"#{list_} tbody tr").first.locator("td")
    for ends in (None, 777):
        if ends:
            rows = [row | {"log_end_offset": ends} for row in PARTITIONS]
            read = {"log_end_offset": ends, "committed_offset": 0}
            announce("local", put(partitions=rows, groups=[row | read for row in GROUPS]))
            expect(cells.filter(has_text="1\u202f554")).to_have_count(1)
        expect(cells.last).to_have_attribute("data-label", titles[-1])
        assert [cell.get_attribute("data-label") for cell in cells.all()] == titles
        for cell in cells.all():
            box = cell.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390


def test_a_table_is_a_table_again_when_the_phone_is_turned(page_as):
    page = page_as("viewer", width=390)
    page.goto("/c/local/topics")
    expect(page.locator("table.is-stacked")).to_have_count(1)
    page.set_viewport_size({"width": 844, "height": 390})
    expect(page.locator("table.is-stacked")).to_have_count(0)
    expect(page.locator("thead th").last).to_be_visible()


@pytest.mark.parametrize("list_", ["groups", "topics"])
def test_cells_of_a_column_of_numbers_end_where_its_heading_ends(page_as, list_):
    page = page_as("viewer")
    page.goto(f"/c/local/{list_}")
    align = "cells => cells.map(cell => getComputedStyle(cell).textAlign)"
    headings = page.locator(f"#{list_} th").evaluate_all(align)
    assert "right" in headings
    cells = page.locator(f"#{list_} tbody tr").first.locator("td").evaluate_all(align)
    ends = [i for i, side in enumerate(headings) if side == "right"]
    assert {cells[i] for i in ends} <= {"end", "right"}


def test_the_lag_chart_is_drawn(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing")
    expect(page.locator(".chart .main-svg").first).to_be_visible()


def test_a_group_opens_whatever_it_is_called(page_as):
    names = [".", "..", "a/../b", "//x", "a\\b", "%2e", "~", "two\nlines", "\u202eabc"]
    put("local", groups=[GROUPS[0] | {"group": name} for name in names] + GROUPS[:2])
    page = page_as("viewer")
    page.goto("/c/local/groups")
    links = page.locator("#groups td.name a")
    expect(links).to_have_count(len(names) + 1)
    shown = links.all_inner_texts()
    for number, text in enumerate(shown):
        links.nth(number).click()
        expect(page.locator("h1")).to_have_text(text)
        expect(page.locator("#live-group")).to_contain_text("billing-app")
        page.go_back()
        expect(links).to_have_count(len(shown))


def test_a_chart_has_no_buttons_of_its_own_and_names_no_other_host(page_as, site):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing")
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    expect(page.locator(".chart .modebar-btn")).to_have_count(0)
    named = page.locator(".chart").first.evaluate(
        """chart => [
            ...Object.values(chart._context),
            ...[...chart.querySelectorAll("[href]")].map((link) => link.getAttribute("href")),
        ].filter((value) => /^(https?:)?[/][/]/.test(value))"""
    )
    assert named == []


def test_a_change_to_a_cluster_that_is_down_is_answered_in_the_form(page_as):
    page = page_as("operator")
    page.goto("/c/local/create-topic")
    page.fill("input[name=name]", "new-topic")
    page.click("button:has-text('Review the plan')")
    expect(page.locator(".alert-danger")).to_contain_text("could not be read")
    expect(page.locator("input[name=name]")).to_have_value("new-topic")

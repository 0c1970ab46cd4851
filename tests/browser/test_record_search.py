"""A search in a browser: matches appear, the page says how it ended, Stop stops it."""

from urllib.parse import urlencode

import psutil
import pytest
from playwright.sync_api import expect

from monitoring.models import Cluster
from tests.console.conftest import a_user
from tests.support.live_cluster import LiveCluster
from tests.support.waiting import wait_until
from tests.support.web import sign_in

TOPIC = "browser-search"


@pytest.fixture
def local(transactional_db, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    with live_cluster.gateway() as gateway:
        is_new = not gateway.wire.has_topic(TOPIC)
    if is_new:
        live_cluster.create_topic(TOPIC, 2)
        live_cluster.produce(TOPIC, {0: 300, 1: 300})
    return row


def test_matches_appear_newest_first_with_how_the_search_ended(local, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages")
    page.click("a:has-text('Search')")
    page.fill("input[name=text]", "value-29")
    page.click("button:has-text('Search')")
    expect(page.locator("[data-part=progress]")).to_contain_text("Complete")
    rows = page.locator("[data-record-search] tbody tr")
    expect(rows).to_have_count(22)  # 29 and 290 to 299 of both partitions
    times = rows.evaluate_all("rows => rows.map(row => Number(row.dataset.time))")
    assert times == sorted(times, reverse=True)
    expect(page.locator("[data-part=stop]")).to_be_hidden()


def test_what_was_found_by_key_is_exported_as_it_was_found(local, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages")
    page.fill("input[name=key]", "key")
    page.press("input[name=key]", "Enter")
    expect(page.locator("[data-part=progress]")).to_contain_text("matched")
    page.fill("input[name=text]", "typed later")
    with page.expect_download() as download:
        page.click("[data-record-search] a:has-text('JSON Lines')")
    lines = download.value.path().read_text().splitlines()
    assert sum('"value-' in line for line in lines) == 600
    expect(page.locator("input[name=text]")).to_have_value("typed later")


def test_a_followed_search_shows_new_records_and_waits_while_it_is_paused(
    local, live_cluster, web, page
):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages/search?order=follow")
    expect(page.locator("[data-part=progress]")).to_contain_text("Waiting for new records")
    rows = page.locator("[data-record-search] tbody tr")
    live_cluster.produce(TOPIC, {0: 3})
    expect(rows).to_have_count(3)
    page.click("[data-part=pause]")
    live_cluster.produce(TOPIC, {1: 2})
    expect(page.locator("[data-part=waiting]")).to_have_text("2 new")
    expect(rows).to_have_count(3)
    page.click("[data-part=pause]")
    expect(rows).to_have_count(5)
    page.click("[data-part=stop]")
    progress = page.locator("[data-part=progress]")
    expect(progress).to_contain_text("Stopped")
    expect(progress).not_to_contain_text("Waiting for new records")


def test_a_record_is_shown_beside_the_table(local, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages?partition=0&offset=0")
    page.click("tbody tr:nth-child(2) .record-preview >> nth=-1")
    panel = page.locator(".panel")
    expect(panel.locator(".card-title")).to_have_text("Partition 0, offset 1")
    expect(panel.locator("[data-view=text]").first).to_contain_text("value-")
    panel.locator("[data-show=hex]").first.click()
    expect(panel.locator("[data-view=hex]").first).to_contain_text("00000000  ")
    expect(panel.locator("[data-view=text]").first).to_be_hidden()
    panel.get_by_label("Value as").select_option("hex")
    expect(panel.locator("[data-view=text]").first).to_contain_text("7661 6c75 652d")
    expect(panel.get_by_label("Value as")).to_be_focused()
    panel.get_by_label("Value as").select_option("uuid")
    expect(panel).to_contain_text("Not readable as")
    panel.get_by_label("Value as").evaluate("select => select.blur()")
    page.locator("body").press("ArrowDown")
    expect(panel.locator(".card-title")).to_have_text("Partition 0, offset 2")
    page.locator("body").press("Escape")
    expect(panel).to_have_count(0)


def test_an_expression_with_an_error_is_said_where_it_is_also_while_it_is_typed(local, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages/search")
    page.fill("input[name=expression]", "record.offset <")
    expect(page.locator(".invalid-feedback")).to_have_text(
        "Column 16: the expression ends too early."
    )
    page.fill("input[name=expression]", "record.offset < 1")
    expect(page.locator(".invalid-feedback")).to_have_text("")
    page.fill("input[name=expression]", "record.offset <")
    page.click("button:has-text('Search')")
    expect(page.locator(".invalid-feedback")).to_have_text(
        "Column 16: the expression ends too early."
    )
    expect(page.locator("input[name=expression]")).to_have_value("record.offset <")


def test_a_search_ends_when_its_page_is_left(local, live_cluster, web, page):
    """Its expression takes minutes."""
    live_cluster.produce(TOPIC, {0: 50_000})
    slow = " || ".join(f'record.valueAsText.matches("(x+{n})+y")' for n in range(20))
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{TOPIC}/messages/search?{urlencode({'expression': slow})}")
    wait_until(is_searching, "the search runs")
    page.goto(f"{web}/c/local/topics")
    wait_until(lambda: not is_searching(), "the search has ended")


def is_searching() -> bool:
    return any(map(_is_a_search, psutil.Process().children(recursive=True)))


def _is_a_search(process: psutil.Process) -> bool:
    try:
        return "monitoring.records.search_process" in process.cmdline()
    except psutil.Error:  # it has ended
        return False

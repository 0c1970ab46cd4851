"""What an open page says when something is away: since when, what still works; and its recovery."""

import time

from playwright.sync_api import expect

from monitoring.background import stored_heartbeats
from tests.browser.pages import announce, put
from tests.browser.test_pages import _ticks  # noqa: F401  (a fixture)
from tests.console.conftest import PARTITIONS
from tests.support.waiting import wait_until


def test_an_open_page_says_that_it_is_stale_once_samples_stop_and_recovers(page_as):
    page = page_as("viewer")
    put()
    page.goto("/c/local/")
    pill = page.locator("#live-status .status-text")
    expect(pill).to_contain_text("Stale since", timeout=60_000)
    # First what the page guesses, then the console's answer, which it asks for every 5 s.
    expect(page.locator("#live-banner .alert:visible")).to_contain_text(
        "No new sample since", timeout=30_000
    )
    announce("local", put())
    expect(pill).to_have_text("Live")
    expect(page.locator("#live-banner .alert:visible")).to_have_count(0)


def test_a_page_whose_scripts_come_slowly_gets_ticks(page_as):
    page = page_as("viewer")

    def late(route):
        time.sleep(1)
        route.continue_()

    page.route("**/hx-ws*.js", late)
    put()
    with page.expect_websocket(timeout=10_000) as connection:
        page.goto("/c/local/")
    announce("local", put())
    connection.value.wait_for_event("framereceived", timeout=10_000)


def test_an_open_page_tells_of_a_redis_that_hangs_and_recovers(page_as, redis_server):
    page = page_as("viewer")
    put()
    page.goto("/c/local/topics")
    with redis_server.hung():
        expect(page.locator("#live-banner .alert:visible")).to_contain_text(
            "Redis, which holds the samples, does not answer.", timeout=60_000
        )
        expect(page.locator("#live-status .status-text")).to_contain_text("Stale since")
        answer = page.goto("/c/local/groups")
        assert answer.status == 200
        expect(page.locator("#live-banner .alert:visible")).to_contain_text("Redis")
    announce("local", put())
    expect(page.locator("#live-status .status-text")).to_have_text("Live", timeout=60_000)


def test_partitions_without_a_leader_are_reported_with_a_way_to_them(page_as):
    page = page_as("viewer")
    dead = PARTITIONS[0] | {"leader": -1, "log_end_offset": None, "size_bytes": None}
    number = put(partitions=[dead, *PARTITIONS[1:]], since={"leaderless": 1_000_000})
    page.goto("/c/local/")
    announce("local", number)
    banner = page.locator("#live-banner .alert:visible")
    expect(banner).to_contain_text("1 of 3 partitions has no leader since")
    expect(page.locator("#live-status .status-text")).to_have_text("Degraded")
    banner.locator("a").first.click()
    row = page.locator("#topics tbody tr").first
    expect(row).to_contain_text("1 offline")
    expect(row.locator(".at-least").first).to_have_text("≥ 4.88\u202fKiB")
    expect(row.locator(".at-least").first).to_have_attribute(
        "title", "1 of 2 partitions is not known."
    )


def test_an_open_page_tells_of_a_worker_that_stopped_and_that_it_is_back(page_as, redis_server):
    page = page_as("viewer")
    client = redis_server.client()
    stored_heartbeats.record("actions")
    announce("local", put())
    page.goto("/c/local/")
    said = page.locator("#health .alert:visible", has_text="actions")
    expect(said).to_have_count(0)
    try:
        client.hincrby(stored_heartbeats.KEY, "actions", -10 * stored_heartbeats.SILENT_MS)
        _announce_until(lambda: said.count() == 1)
        expect(said).to_contain_text("The worker of the queue “actions” has stopped since")
        stored_heartbeats.record("actions")
        _announce_until(lambda: said.count() == 0)
    finally:
        client.delete(stored_heartbeats.KEY)


def _announce_until(is_shown):
    def announced():
        announce("local", put())
        time.sleep(1)
        return is_shown()

    # A console that has just started gives the workers a minute.
    wait_until(announced, "the page shows it", 180)

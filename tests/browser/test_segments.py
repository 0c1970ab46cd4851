"""The segments of a partition in a browser: the diagram fits its card, its files are opened."""

import time

import pytest
from confluent_kafka import Producer
from playwright.sync_api import expect

from monitoring.egress.models import EgressTarget
from tests.browser.faults import faults
from tests.console.conftest import GROUPS, PARTITIONS, a_user, sample
from tests.support.live_cluster import LiveCluster
from tests.support.web import sign_in

TOPIC = "browser-segments"
HOUR_MS = 3_600_000
PAGE = f"/c/local/topics/{TOPIC}/partitions/0/segments"


@pytest.fixture
def log(transactional_db, redis_server, live_cluster: LiveCluster) -> None:
    """A log of several segments, of two codecs, that a group has read half of."""
    live_cluster.row("local").save()
    # The server that is tested is no process of the stack, whose ports are known.
    EgressTarget.objects.create(host="127.0.0.1", purpose=EgressTarget.Purpose.ADMIN_PORT)
    with live_cluster.gateway() as gateway:
        if not gateway.wire.has_topic(TOPIC):
            gateway.topics.create_topic(TOPIC, 1, 1, {"segment.bytes": "20000"})
            write(live_cluster)
        leader = gateway.topics.describe_topic(TOPIC).partitions[0].leader
    known = PARTITIONS[0] | {"topic": TOPIC, "leader": leader, "log_end_offset": 600}
    group = GROUPS[0] | {"topic": TOPIC, "log_end_offset": 600, "committed_offset": 300}
    sample("local", partitions=[known | {"replicas": [leader], "isr": [leader]}], groups=[group])


def write(cluster: LiveCluster) -> None:
    at_ms = time.time_ns() // 1_000_000 - 6 * HOUR_MS
    for number in range(6):
        settings = {
            "bootstrap.servers": cluster.brokerd.bootstrap_servers, "log_level": 0,
            "compression.type": "lz4" if number > 3 else "none", "batch.size": 4000,
        }  # fmt: skip
        producer = Producer(settings)
        for _ in range(100):
            at_ms += HOUR_MS // 100
            producer.produce(TOPIC, b"a value of some length " * 8, partition=0, timestamp=at_ms)
        assert producer.flush(30) == 0


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_log_is_to_scale_and_without_faults(web, page, scheme):
    sign_in(page, web, a_user("reader", "viewer"))
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{web}{PAGE}?offset=450")
    files = page.locator(".log-diagram a")
    assert files.count() > 2
    expect(page.locator(".log-diagram rect.is-looked-up")).to_have_count(1)
    expect(page.locator(".log-diagram-mark.is-group")).to_contain_text("billing at 300")
    by_size = [box["width"] for box in map(box_of, files.all())]
    assert sum(by_size) == pytest.approx(
        page.locator(".log-diagram").bounding_box()["width"], rel=0.01
    )
    assert faults(page) == []
    page.click("text=Offsets >> nth=0")
    expect(page.locator(".log-diagram-mark.is-looked-up")).to_contain_text("offset 450")
    assert [box["width"] for box in map(box_of, files.all())] != by_size


def box_of(file):
    return file.locator("rect").first.bounding_box()


@pytest.mark.usefixtures("log")
def test_a_file_is_opened_from_the_strip_and_its_index_leads_to_records(web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}{PAGE}")
    page.locator(".log-diagram a").last.click()
    expect(page.locator("h1")).to_contain_text("Segment")
    page.goto(f"{web}{PAGE}/0?show=offset")
    page.locator("tbody a").first.click()
    expect(page.locator(".records tbody tr").first).to_be_visible()


@pytest.mark.usefixtures("log")
def test_on_a_phone_the_strip_scrolls_in_its_card_and_the_page_does_not(web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{web}{PAGE}")
    diagram = page.locator(".log-diagram-scroll")
    assert diagram.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.usefixtures("log")
def test_parts_of_the_strip_have_tooltips_by_pointer_and_keyboard(web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}{PAGE}")
    tip = page.get_by_role("tooltip")
    page.locator(".log-diagram a").first.hover()
    expect(tip).to_contain_text("Offsets 0 to")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.locator(".log-diagram-mark.is-group").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(tip).to_contain_text("billing")
    assert page.locator(".log-diagram title").count() == 0
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    assert faults(page) == []


@pytest.mark.usefixtures("log")
def test_no_column_of_the_files_is_cut_at_1440_pixels(web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{web}{PAGE}")
    table = page.locator(".table-responsive", has_text="Time index")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")

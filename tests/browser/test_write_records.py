"""Records are written, found and sent again, with everything real: broker, worker, browser."""

import json
import re
import uuid

import pytest
from playwright.sync_api import Page, expect

from monitoring.models import Cluster
from tests.console.conftest import a_user
from tests.monitoring.schema_registry import serialized
from tests.support.live_cluster import LiveCluster
from tests.support.schema_registry import schema_registry
from tests.support.web import sign_in
from tests.support.worker import worker

APPLIED_MS = 30_000


@pytest.fixture
def local(transactional_db, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row


@pytest.fixture
def topic(live_cluster: LiveCluster, monkeypatch) -> str:
    """Its copy, for which there is a topic too, has ".copy" behind the name."""
    monkeypatch.setenv("AERIE_EGRESS_ALLOW", "127.0.0.1")  # of the web server, for a registry
    name = f"browser-write-{uuid.uuid4().hex[:8]}"
    for each in (name, f"{name}.copy"):
        live_cluster.create_topic(each, 2)
    return name


def review_and_apply(page: Page, label: str = "Write records") -> None:
    page.click("button:has-text('Review the plan')")
    page.click(f"button:has-text('{label}')")
    expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)


def test_a_record_is_written_found_sent_again_and_copied(local, topic, web, page):
    sign_in(page, web, a_user("writer", "operator"))
    with worker("actions"):
        page.goto(f"{web}/c/local/topics/{topic}/write")
        page.fill("input[name=key], textarea[name=key]", "order-17")
        page.fill("textarea[name=value]", '{\n  "amount": 3\n}')
        page.select_option("select[name=value_format]", "json")
        page.fill("textarea[name=headers]", "trace: 7")
        review_and_apply(page)
        page.click("#plan a:has-text('offset 0')")
        expect(page.locator("main")).to_contain_text("order-17")

        page.goto(f"{web}{again_link(page)}")
        expect(page.locator("textarea[name=value]")).to_have_value('{\n  "amount": 3\n}')
        expect(page.locator("textarea[name=headers]")).to_have_value("trace: 7")
        page.fill("input[name=times]", "4")
        review_and_apply(page)
        expect(page.locator("#plan")).to_contain_text("4 records, offsets 1 to 4")

        page.goto(f"{web}/c/local/topics/{topic}/write/mock")
        page.fill("textarea[name=document]", '{"id": "order-17", "amount": 4.5}')
        page.click("button:has-text('Preview five')")
        expect(page.locator("pre.record-data")).to_have_count(5)
        review_and_apply(page)

        page.goto(f"{web}/c/local/topics/{topic}/copy")
        page.fill("input[name=to]", f"{topic}.copy")
        expect(page.locator("textarea[name=ranges]")).to_be_hidden()
        review_and_apply(page, "Copy records")
        expect(page.locator(f"#plan a[href*='{topic}.copy/messages']").first).to_be_visible()


def test_a_record_is_typed_as_json_and_encoded_with_a_schema(local, topic, web, page):
    sign_in(page, web, a_user("writer", "operator"))
    with schema_registry() as registry, worker("actions"):
        registry.add(f"{topic}-value", serialized.AVRO_SCHEMA)
        Cluster.objects.update(registry_url=registry.url)
        page.goto(f"{web}/c/local/topics/{topic}/write")
        expect(page.locator("input[name=value_schema]")).to_be_hidden()
        page.select_option("select[name=value_format]", "schema")
        expect(page.locator("input[name=value_schema]")).to_be_visible()
        page.fill("textarea[name=value]", '{"id": 41, "user": {"name": 5}}')
        page.click("button:has-text('Review the plan')")
        expect(page.locator("main")).to_contain_text("At “value.user.name”: expected string")
        page.fill("textarea[name=value]", json.dumps(serialized.AVRO_VALUE))
        review_and_apply(page)
        page.click("#plan a:has-text('offset 0')")
        expect(page.locator("main")).to_contain_text('{"id":41,"user":{"name":"Zoë"')


def test_a_plan_is_stopped_and_resumed(local, topic, web, page):
    sign_in(page, web, a_user("writer", "operator"))
    with worker("actions"):
        page.goto(f"{web}/c/local/topics/{topic}/write/mock")
        page.fill("textarea[name=document]", '{"id": "order-17"}')
        page.fill("input[name=count]", "120")
        page.fill("input[name=rate]", "10")
        page.click("button:has-text('Review the plan')")
        page.click("button:has-text('Write records')")
        some = re.compile(r"[1-9]\d*\.\d\s% done")
        expect(page.locator("#plan")).to_contain_text(some, timeout=APPLIED_MS)
        page.click("#plan-stop button")
        stopped = page.locator("#plan .alert-warning")
        expect(stopped).to_contain_text("Stopped", timeout=APPLIED_MS)
        expect(stopped).to_contain_text("of 120 records were written")
        page.click("button:has-text('Resume what is not done')")
        expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)


def again_link(page: Page) -> str:
    page.click("tr[data-panel]")
    link = page.locator(".panel a[href*='/write?partition=']")
    return str(link.get_attribute("href"))

"""Records with a schema in a browser: decoded in the table, the panel and a search."""

import uuid

import pytest
from playwright.sync_api import expect

from tests.console.conftest import a_user
from tests.monitoring.schema_registry import serialized
from tests.support.live_cluster import LiveCluster
from tests.support.schema_registry import schema_registry
from tests.support.web import sign_in


@pytest.fixture
def topic(transactional_db, live_cluster: LiveCluster, monkeypatch):
    """A topic whose records have schemas, in a cluster with a registry."""
    monkeypatch.setenv("AERIE_EGRESS_ALLOW", "127.0.0.1")  # of the web server
    name = f"browser-schemas-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(name, 1)
    values = (serialized.PROTO_RECORD, b"\0\0\0\0\x63unknown", serialized.AVRO_RECORD)
    live_cluster.write(name, ({"value": value, "key": serialized.JSON_RECORD} for value in values))
    with schema_registry() as registry:
        serialized.add_all(registry)
        live_cluster.row("local", registry_url=registry.url).save()
        yield name


def test_a_record_is_decoded_in_table_panel_and_search(topic, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/topics/{topic}/messages")
    rows = page.locator("table.records tbody tr")
    expect(rows.nth(0)).to_contain_text('{"id":41,"user":{"name":"Zoë"')
    rows.nth(0).locator(".record-preview").last.click()
    panel = page.locator(".panel")
    expect(panel.locator("[data-view=tree]").first).to_contain_text("4111-1111")
    expect(panel).to_contain_text("schema 1")
    expect(panel).to_contain_text("payments-value, version 1")
    panel.locator("[data-show=hex]").first.click()
    expect(panel.locator("[data-view=hex]").first).to_contain_text("00000000  00 00 00 00 01 52")
    page.locator("body").press("ArrowDown")
    expect(panel).to_contain_text("The schema registry has no schema with the id 99.")

    page.goto(f"{web}/c/local/topics/{topic}/messages/search")
    page.fill("input[name=expression]", 'record.value.user.name == "Zoë"')
    page.click("button:has-text('Search')")
    expect(page.locator("[data-record-search] tbody tr")).to_have_count(1)
    expect(page.locator("[data-part=progress]")).to_contain_text("not decoded")

"""A change from the form to the cluster and back, with everything real: broker, worker, browser."""

import re

import pytest
from playwright.sync_api import expect

from monitoring.gateway.errors import NotFound
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.console.conftest import a_user
from tests.support.live_cluster import LiveCluster
from tests.support.web import sign_in
from tests.support.worker import worker

APPLIED_MS = 30_000


@pytest.fixture
def local(transactional_db, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row


def partitions_of(cluster: Cluster, topic: str) -> int | None:
    with for_cluster(cluster) as gateway:
        try:
            return len(gateway.topics.describe_topic(topic).partitions)
        except NotFound:
            return None


def test_a_topic_is_created_grown_and_deleted(local, web, page):
    sign_in(page, web, a_user("boss", "admin"))
    with worker("actions"):
        page.goto(f"{web}/c/local/create-topic")
        page.fill("input[name=name]", "journey")
        page.click("button:has-text('Review the plan')")
        expect(page.locator("h1")).to_contain_text("Create the topic")
        assert partitions_of(local, "journey") is None
        page.click("button:has-text('Create topic')")
        expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)
        assert partitions_of(local, "journey") == 3

        page.goto(f"{web}/c/local/topics/journey/add-partitions")
        page.fill("input[name=total]", "5")
        page.click("button:has-text('Review the plan')")
        page.click("button:has-text('Add partitions')")
        expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)
        assert partitions_of(local, "journey") == 5

        page.goto(f"{web}/c/local/topics/journey/delete")
        page.click("button:has-text('Review the plan')")
        expect(page.locator("button:has-text('Delete permanently')")).to_be_disabled()
        page.fill("#typed", "jorney")
        expect(page.locator("button:has-text('Delete permanently')")).to_be_disabled()
        page.fill("#typed", "journey")
        page.click("button:has-text('Delete permanently')")
        expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)
        assert partitions_of(local, "journey") is None

    page.goto(f"{web}/audit")
    verbs = page.locator("#audit tbody tr td:nth-child(3)")
    expect(verbs).to_have_text([re.compile("delete"), re.compile("add-p"), re.compile("create")])


def test_a_plan_waits_for_a_worker_and_the_page_for_the_plan(local, web, page):
    sign_in(page, web, a_user("boss", "admin"))
    page.goto(f"{web}/c/local/create-topic")
    page.fill("input[name=name]", "patience")
    page.click("button:has-text('Review the plan')")
    page.click("button:has-text('Create topic')")
    expect(page.locator("progress")).to_be_visible()
    expect(page.locator("#plan [role=status]")).to_contain_text("Waiting for a worker")
    with worker("actions"):
        expect(page.locator("#plan .alert-success")).to_be_visible(timeout=APPLIED_MS)
    assert partitions_of(local, "patience") == 3

"""What forms show while they are filled in: a preview, a dock, the test of a connection."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from console.actions.models import Plan
from monitoring.models import Cluster
from tests.console.conftest import GROUPS, PARTITIONS, a_user, sample
from tests.support.live_cluster import LiveCluster
from tests.support.web import sign_in


@pytest.fixture
def local(transactional_db, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row


@pytest.fixture
def topic(live_cluster: LiveCluster) -> str:
    name = f"browser-forms-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(name, 2)
    return name


@pytest.fixture
def boss(local, topic, web, page):
    """Signed in. The sample has the topic, with a group of the same name."""
    partitions = [row | {"topic": topic} for row in PARTITIONS[:2]]
    groups = [row | {"topic": topic, "group": topic} for row in GROUPS[:2]]
    sample("local", partitions=partitions, groups=groups)
    sign_in(page, web, a_user("boss", "admin"))


@pytest.mark.usefixtures("boss")
def test_the_preview_of_a_reset_follows_the_form(web, page, live_cluster, topic):
    live_cluster.produce(topic, {0: 50, 1: 50})
    live_cluster.commit(topic, topic, {0: 20, 1: 30})
    page.goto(f"{web}/c/local/group-reset/{topic}")
    figures = page.locator("#reset-preview .stat-value")
    expect(figures).to_have_count(4)  # an edit would abort the request, which Chromium reports
    page.select_option("[name=topic]", topic)
    expect(figures).to_have_text(["50", "0", "100", "2"])
    page.get_by_text("Shift", exact=True).click()
    expect(page.locator("#reset-preview")).to_contain_text("Fill in the form")
    page.fill("[name=shift]", "5")
    expect(figures).to_have_text(["0", "10", "40", "2"])
    expect(page.locator("#reset-preview tbody tr").first).to_contain_text("25")
    page.get_by_text("From a file", exact=True).click()
    expect(page.locator("#reset-preview")).to_contain_text("Fill in the form")
    lines = f"{topic},0,10\n{topic},1,30\n"
    page.set_input_files(
        "[name=file]",
        {"name": "o.csv", "mimeType": "text/csv", "buffer": lines.encode()},
    )
    expect(figures).to_have_text(["10", "0", "60", "2"])
    assert not Plan.objects.exists()
    page.click("button:has-text('Review the plan')")
    expect(page.locator(".stat-value").first).to_have_text("10")


@pytest.mark.usefixtures("boss")
def test_it_is_said_how_a_value_with_a_unit_is_understood(web, page, topic):
    page.goto(f"{web}/c/local/topics/{topic}/config")
    row = page.locator('[data-setting="retention.ms"]')
    row.locator("input[type=text]").fill("7d")
    expect(row.get_by_role("status")).to_have_text("7 days = 604 800 000 ms")
    row.locator("input[type=text]").fill("7 x")
    expect(row.get_by_role("status")).to_contain_text("for example 7d, 36h or 90 min")
    row.locator("input[type=text]").fill("3600000")
    expect(row.get_by_role("status")).to_be_empty()
    row.locator("input[type=text]").fill("7d")
    row.locator("[data-value='3600000']").click()
    expect(row.get_by_role("status")).to_be_empty()
    page.goto(f"{web}/c/local/create-topic")
    page.fill("[name=settings]", "segment.bytes=64 MiB")
    expect(page.get_by_role("status").filter(has_text="MiB")).to_have_text(
        "segment.bytes: 64 MiB = 67 108 864 bytes"
    )


@pytest.mark.usefixtures("boss")
def test_plan_again_opens_the_form_with_what_was_typed(web, page, topic):
    page.goto(f"{web}/c/local/topics/{topic}/config")
    row = page.locator('[data-setting="retention.ms"]')
    row.locator("input[type=text]").fill("36h")
    page.locator("[data-unsaved-changes-bar]").get_by_role("button", name="Review the plan").click()
    expect(page.locator("main")).to_contain_text("129600000")
    Plan.objects.update(created_at=timezone.now() - timedelta(minutes=16))
    page.reload()
    page.get_by_role("link", name="Plan again").click()
    expect(row.locator("input[type=text]")).to_have_value("36h")
    expect(row.get_by_role("status")).to_contain_text("36 h = 129 600 000 ms")
    expect(page.locator("[data-unsaved-changes-bar]")).to_contain_text("1 change")
    assert Plan.objects.count() == 1


@pytest.mark.usefixtures("boss")
def test_the_dock_counts_what_is_changed_and_discards_it(web, page, topic):
    page.goto(f"{web}/c/local/topics/{topic}/config")
    dock = page.locator("[data-unsaved-changes-bar]")
    review = dock.get_by_role("button", name="Review the plan")
    expect(dock).to_contain_text("No changes")
    expect(review).to_be_disabled()
    page.locator("[name='retention.ms']").fill("3600000")
    page.locator("[name='max.message.bytes']").fill("2000000")
    expect(dock).to_contain_text("2 changes")
    expect(dock).to_contain_text("retention.ms 3600000")
    page.locator("[data-setting='max.message.bytes'] [data-revert]").click()
    expect(dock).to_contain_text("1 change")
    dock.get_by_role("button", name="Discard").click()
    expect(dock).to_contain_text("No changes")
    page.locator("[data-suggestions] button[data-value='86400000']").first.click()
    expect(dock).to_contain_text("1 change")
    review.click()
    expect(page.locator(".review-steps .now")).to_contain_text("Review")
    assert Plan.objects.get().action == "topic.configure"


@pytest.mark.usefixtures("boss")
def test_the_connection_test_stands_beside_the_form_and_keeps_what_is_typed(web, page, local):
    page.goto(f"{web}/clusters/add")
    test = page.locator("#connection-test")
    button = test.get_by_role("button", name="Test the connection")
    button.click()
    expect(test).to_contain_text("Correct the form first")
    page.fill("[name=name]", "New")
    page.fill("[name=slug]", "new")
    page.fill("[name=bootstrap_servers]", "127.0.0.1:1")
    button.click()
    expect(test.locator(".is-failed")).to_contain_text("Port")
    expect(test.locator(".is-not-reached").first).to_contain_text("Brokers")
    page.fill("[name=bootstrap_servers]", local.bootstrap_servers)
    button.click()
    expect(test.locator(".is-failed")).to_have_count(0)
    expect(test).to_contain_text("The cluster answers")
    expect(page.locator("[name=name]")).to_have_value("New")
    assert not Cluster.objects.filter(slug="new").exists()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"{web}/clusters")
    assert Cluster.objects.filter(slug="new").exists()

"""The page of the pipeline in a real browser: its back-fill, as ticks come."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from monitoring.history.levels import HOUR_MS
from monitoring.models import Backfill, Cluster, LastBackfill
from tests.browser.pages import announce, put
from tests.support.web import sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def pipeline(web, page, clusters, admin):
    """The page with a back-fill that runs, of which a quarter is done."""
    cluster = Cluster.objects.get(slug="local")
    Backfill.objects.create(cluster=cluster, from_ms=0, to_ms=4 * HOUR_MS, next_ms=HOUR_MS)
    put()
    sign_in(page, web, admin)
    page.goto(f"{web}/c/local/pipeline")
    expect(page.get_by_text("25 %")).to_be_visible()
    return page


def test_a_back_fill_that_moved_meanwhile_is_stopped(pipeline):
    Backfill.objects.update(next_ms=2 * HOUR_MS)
    announce("local", put())
    expect(pipeline.get_by_text("50 %")).to_be_visible()
    pipeline.get_by_role("button", name="Stop").click()
    expect(pipeline.get_by_text("The back-fill stops after the hour")).to_be_visible()
    assert not Backfill.objects.exists()


def test_one_that_is_done_meanwhile_says_so_and_another_can_be_started(pipeline):
    start = pipeline.get_by_role("button", name="Start the back-fill")
    expect(start).to_be_hidden()
    found = Backfill.objects.get()
    LastBackfill.objects.create(
        cluster=found.cluster, from_ms=0, to_ms=found.to_ms, hours=4, days=0,
        ended_at=timezone.now(),
    )  # fmt: skip
    found.delete()
    announce("local", put())
    expect(pipeline.get_by_text("It computed 4 hours and 0 days again.")).to_be_visible()
    expect(start).to_be_visible()

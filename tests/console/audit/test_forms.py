"""The filters of the audit log."""

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from console.audit import write_entry
from console.audit.models import AuditEntry


@pytest.fixture
def shown(db, redis_server, client_of, admin, viewer):
    """shown(query) → the resources of the page's rows; sign-ins by the user's name."""
    client = client_of(admin)
    AuditEntry._base_manager.all().delete()
    for at in (datetime(2026, 3, 9, 23, 59, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC)):
        entry = write_entry.record(admin, "topic.create", "local", f"made-{at:%d}")
        AuditEntry._base_manager.filter(pk=entry.pk).update(at=at)
    write_entry.record(viewer, "report.run", "local", "weekly")
    write_entry.record(viewer, "account.sign-in", resource="signed-in")
    names = re.compile(r'<td class="wrap">(made-09|made-10|weekly|signed-in)</td>')

    def rows(query: str) -> set[str]:
        answer = client.get(f"/audit?{query}")
        assert answer.status_code == 200
        return set(names.findall(answer.content.decode()))

    return rows


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"made-09", "made-10", "weekly"}),
        ("show=sign-ins", {"signed-in"}),
        ("show=sign-ins&user=admin", set()),
        ("first=2026-03-10&last=2026-03-10", {"made-10"}),
        ("last=2026-03-09", {"made-09"}),
        ("first=2026-03-11", {"weekly"}),
        ("user=view", {"weekly"}),
        ("action=topic.create", {"made-09", "made-10"}),
        ("verb=topic.create", {"made-09", "made-10"}),  # a link of an older version
        ("resource=made-1", {"made-10"}),
        ("action=topic.create&q=made-09", {"made-09"}),
    ],
)
def test_each_filter_selects_its_entries(shown, query, expected):
    assert shown(query) == expected


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("first=2026-03-10&last=2026-03-09", "The last day is before the first one."),
        ("first=yesterday", "Enter a valid date."),
        ("action=nonsense", "Select a valid choice."),
    ],
)
def test_an_invalid_filter_is_reported(db, redis_server, client_of, admin, query, error):
    answer = client_of(admin).get(f"/audit?{query}")
    assert answer.status_code == 422
    assert error in answer.content.decode()


def test_usual_days_are_links_that_keep_the_other_filters(db, redis_server, client_of, admin):
    today = timezone.now().date()
    page = client_of(admin).get(f"/audit?user=bo&first={today}&last={today}").content.decode()
    [first] = re.findall(r'href="([^"]+)"\s+aria-current="true">Today<', page)
    assert first == f"?user=bo&amp;first={today}&amp;last={today}"
    week = today - timedelta(days=6)
    assert f'href="?user=bo&amp;first={week}&amp;last={today}"' in page


def test_what_was_planned_leads_to_its_plan(db, redis_server, client_of, admin):
    plan = uuid.uuid4()
    write_entry.record(admin, "topic.create", "local", "orders", plan=plan)
    write_entry.record(admin, "report.run", "local", "weekly")
    page = client_of(admin).get("/audit").content.decode()
    assert f'<a href="/c/local/plans/{plan}">topic.create</a>' in page
    assert page.count("/plans/") == 1

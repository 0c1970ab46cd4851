"""The page of what changed on some days."""

from datetime import UTC

from console.audit import write_entry as audit
from console.dashboard import changes_page
from tests.console.dashboard.test_alerts_and_warnings import an_alert
from tests.console.dashboard.test_recent_changes import PAGE, an_event, at_ms


def test_the_page_lists_the_chosen_days_alone(local, admin, client_of):
    an_event(local, "billing", at_ms("2026-03-01"))
    an_event(local, "1", at_ms("2026-03-02", 0), "broker_left")
    an_event(local, "1", at_ms("2026-03-02", 23), "broker_back")
    an_alert(local, "billing", fired_at_ms=at_ms("2026-03-01"), state="resolved",
             resolved_at_ms=at_ms("2026-03-02"))  # fmt: skip
    an_event(local, "billing", at_ms("2026-03-03", 0))
    page = client_of(admin).get(f"{PAGE}?first=2026-03-02&last=2026-03-02").content.decode()
    for text in ("left the cluster", "is back", "alert of billing ended"):
        assert text in page
    for text in ("rebalanced", "alert of billing fired"):
        assert text not in page
    entry = audit.record(admin, "topic.create", "local", "orders", {}, {})
    today = entry.at.astimezone(UTC).date().isoformat()
    page = client_of(admin).get(f"{PAGE}?first={today}&last={today}").content.decode()
    assert "topic.create orders" in page
    assert "rebalanced" not in page


def test_days_in_the_wrong_order_are_said(local, viewer, client_of):
    answer = client_of(viewer).get(f"{PAGE}?first=2026-03-02&last=2026-03-01")
    assert answer.status_code == 422
    assert "The last day is before the first one." in answer.content.decode()


def test_the_page_says_if_there_are_older_changes(local, admin, client_of, monkeypatch):
    monkeypatch.setattr(changes_page, "CHANGES_MAX", 2)
    for hour in range(2):
        an_event(local, "billing", at_ms("2026-03-01", hour))
    assert "Only the newest" not in client_of(admin).get(PAGE).content.decode()
    an_event(local, "old", at_ms("2026-02-01"))
    page = client_of(admin).get(PAGE).content.decode()
    assert "Only the newest 2 changes are listed." in page
    assert "old</bdi>" not in page


def test_the_list_is_exported_with_times(local, admin, client_of):
    an_event(local, "billing", at_ms("2026-03-01"))
    answer = client_of(admin).get(f"{PAGE}?format=csv").content.decode().splitlines()
    assert answer == [
        "at,subject,change", '2026-03-01 12:00:00 UTC,billing,"rebalanced, 1 → 2 members"'
    ]  # fmt: skip

"""What changed in a cluster, and who sees it."""

from datetime import UTC, datetime

from django.utils import timezone

from console.accounts.rights import Rights, rights_of
from console.actions.models import DONE, FAILED, Plan
from console.actions.plan_readers import scope_to_store
from console.audit import write_entry as audit
from console.dashboard import overview
from console.dashboard.recent_changes import Span, changes
from console.live import snapshot_cache
from monitoring.console_topics import NAMES
from monitoring.models import ClusterEvent
from monitoring.scope import EVERYTHING, Scope
from tests.console.conftest import (
    BROKERS,
    GROUPS,
    a_user,
    sample,
    sample_next,
    store_events,
    tick_now,
)
from tests.console.dashboard.test_alerts_and_warnings import an_alert, context

PAGE = "/c/local/changes"


def at_ms(day: str, hour: int = 12) -> int:
    return int(datetime.fromisoformat(f"{day}T{hour:02}:00:00+00:00").timestamp() * 1000)


def an_event(cluster, name: str, at: int, kind: str = "rebalance", **counts: int) -> ClusterEvent:
    if kind == "rebalance":
        counts = {"members_before": 1, "members": 2, "moved": 1} | counts
    return ClusterEvent.objects.create(
        cluster=cluster, tick=at, at_ms=at, kind=kind, name=name, **counts
    )


def test_changes_come_newest_first_and_only_within_the_scope(local, admin):
    an_alert(local, "billing", fired_at_ms=1000, resolved_at_ms=3000, state="resolved")
    an_alert(local, "payers", fired_at_ms=2000)
    audit.record(admin, "topic.create", "local", "orders", {}, {})
    found = context(local, rights_of(admin, local))["changes"]
    assert [change.at_ms for change in found] == sorted((c.at_ms for c in found), reverse=True)
    texts = [f"{change.subject} {change.text}" for change in found]
    assert any("alert of billing ended" in text for text in texts)
    assert any("topic.create orders" in text for text in texts)
    scoped = a_user("scoped-viewer", "viewer", topics=["orders"], groups=["billing"])
    texts = [f"{c.subject} {c.text}" for c in context(local, rights_of(scoped, local))["changes"]]
    assert any("billing" in text for text in texts)
    assert not any("payers" in text or "topic.create" in text for text in texts)


def test_a_broker_that_left_and_came_back_is_in_what_changed(local, admin):
    first = tick_now() + 1
    for number, up in enumerate((True, False, True), first):
        sample("local", number, brokers=[BROKERS[0] | {"up": up}])
        snapshot_cache.refresh("local")
    store_events()
    found = context(local, rights_of(admin, local))["changes"]
    texts = [f"{change.subject} {change.text}" for change in found]
    assert texts[:2] == ["Broker 1 is back", "Broker 1 left the cluster"]


def test_what_changed_leads_to_the_audit_log_of_its_day(local, admin, viewer, client_of):
    entry = audit.record(admin, "topic.create", "local", "orders", {}, {})
    day = entry.at.date().isoformat()
    link = f'href="/c/local/audit?first={day}&amp;last={day}"'
    page = client_of(admin).get("/c/local/").content.decode()
    assert page.count(link) == 2  # of the entry, and of today
    assert "/audit" not in client_of(viewer).get("/c/local/").content.decode()


def a_done_plan(author, action: str, resource: str, scope: Scope = EVERYTHING, **params) -> Plan:
    at = timezone.now()
    return Plan.objects.create(
        cluster="local", action=action, resource=resource, params=params, facts={}, draft={},
        scope=scope_to_store(scope, [{resource: params}]), state=DONE, created_by=author,
        confirmed_by=author.username, created_at=at, last_progress_at=at,
    )  # fmt: skip


def test_operators_see_who_applied_the_plans_that_they_may_read(
    local, admin, operator, viewer, outsider, client_of
):
    plan = a_done_plan(admin, "topic.delete", "orders")
    a_done_plan(admin, "group.delete", "auditors", topics=["console.audit"])
    a_done_plan(admin, "topics.delete", "2 topics", names=["orders", "shop"])
    for page in ("/c/local/", PAGE):
        answer = client_of(operator).get(page).content.decode()
        assert "topic.delete orders" in answer
        assert "topics.delete 2 topics" in answer
        assert "admin</bdi>" in answer
        assert f'href="/c/local/plans/{plan.pk}"' in answer
        assert "auditors" not in answer, page
        assert "/audit" not in answer
        answer = client_of(viewer).get(page).content.decode()
        assert "topic.delete" not in answer
        assert "admin</bdi>" not in answer
        assert client_of(outsider).get(page).status_code == 404


def test_operators_of_some_topics_see_the_plans_of_their_scope_alone(local, admin, operator):
    team = Scope(("orders",), ("billing",), NAMES)
    a_done_plan(admin, "topic.delete", "orders")
    a_done_plan(operator, "topic.configure", "orders", team)
    rights = Rights("local", "operator", team)
    found = changes(local, rights, snapshot_cache.snapshot("local", rights), 10)
    assert [(each.subject, each.text) for each in found] == [("operator", "topic.configure orders")]


def test_plans_that_are_not_applied_or_of_other_days_are_not_in_what_changed(local, operator):
    a_done_plan(operator, "topic.delete", "orders")
    plan = a_done_plan(operator, "topic.create", "shop")
    rights = rights_of(operator, local)
    snapshot = snapshot_cache.snapshot("local", rights)
    plan.change_state(DONE, FAILED)
    assert [each.text for each in changes(local, rights, snapshot, 10)] == ["topic.delete orders"]
    assert changes(local, rights, snapshot, 10, Span(end=datetime(2026, 1, 1, tzinfo=UTC))) == []


def test_a_rebalance_is_in_what_changed_also_for_a_process_that_saw_only_the_last_tick(
    local, viewer, client_of
):
    first = tick_now() + 1
    sample(number=first, groups=[GROUPS[0] | {"members": 2}])
    sample(number=first + 1, groups=[GROUPS[0] | {"members": 1}])
    store_events()
    sample(number=first + 2)
    snapshot_cache.forget("local")
    for page in ("/c/local/", PAGE):
        assert "rebalanced, 2 → 1 members" in client_of(viewer).get(page).content.decode(), page


def test_a_rebalance_of_as_many_members_says_how_many_partitions_moved(local, viewer, client_of):
    an_event(local, "billing", at_ms("2026-03-01"), members_before=2, members=2, moved=3)
    page = client_of(viewer).get(f"{PAGE}?first=2026-03-01&last=2026-03-01").content.decode()
    assert "rebalanced, 3 partitions have other owners" in page


def test_rebalances_that_are_only_counted_are_one_line(local, viewer, client_of):
    an_event(local, "billing", at_ms("2026-03-01"), "rebalances", count=340)
    an_event(local, "auditors", at_ms("2026-03-01"), "rebalances", count=7)
    for page in ("/c/local/", f"{PAGE}?first=2026-03-01&last=2026-03-01"):
        text = client_of(viewer).get(page).content.decode()
        assert "rebalanced 340 more times before, on this day" in text, page
        assert "auditors" not in text


def test_nobody_sees_the_rebalance_of_a_group_that_they_may_not_see(local, admin, viewer):
    """`auditors` reads only a topic that is hidden from all but admins; `gone` is deleted."""
    for group in ("billing", "auditors", "gone"):
        an_event(local, group, at_ms("2026-03-01"))
    scoped = a_user("scoped-viewer", "viewer", groups=["b*"])

    def seen(rights: Rights) -> set[str]:
        found = changes(local, rights, snapshot_cache.snapshot("local", rights), 10)
        return {change.subject for change in found}

    assert seen(rights_of(admin, local)) == {"billing", "auditors", "gone"}
    assert seen(rights_of(viewer, local)) == {"billing"}
    assert seen(rights_of(scoped, local)) == {"billing"}


def test_a_group_that_is_gone_has_no_link(local, admin):
    an_event(local, "gone", at_ms("2026-03-01"))
    an_event(local, "billing", at_ms("2026-03-01"))
    rights = rights_of(admin, local)
    found = changes(local, rights, snapshot_cache.snapshot("local", rights), 10)
    assert {change.subject: change.url for change in found} == {
        "gone": "", "billing": "/c/local/groups/billing",
    }  # fmt: skip


def test_a_broker_that_is_down_is_listed_once(local, admin):
    at = at_ms("2026-03-01")
    an_event(local, "1", at, "broker_left")
    sample_next(brokers=[BROKERS[0] | {"up": False, "down_since_ms": at}])
    snapshot_cache.refresh("local")
    found = overview.context(local, rights_of(admin, local))["changes"]
    assert [change.text for change in found] == ["left the cluster"]


def test_events_of_another_cluster_are_not_listed(sampled, admin):
    an_event(sampled[1], "billing", at_ms("2026-03-01"))
    rights = rights_of(admin, sampled[0])
    assert changes(sampled[0], rights, snapshot_cache.snapshot("local", rights), 10) == []

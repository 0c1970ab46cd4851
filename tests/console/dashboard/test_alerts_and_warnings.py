"""What is wrong on the overview."""

import pytest
from django.urls import reverse

from console.accounts.rights import Rights, rights_of
from console.dashboard import overview
from console.live import snapshot_cache
from monitoring.models import Alert, AlertRule, Cluster
from tests.console.conftest import BROKERS, sample, sample_next, tick_now


def context(local: Cluster, rights: Rights, **changes: object) -> dict:
    if changes:
        sample_next(**changes)
        snapshot_cache.refresh("local")
    return overview.context(local, rights)


def an_alert(local: Cluster, group: str, **more: object) -> Alert:
    rule = AlertRule.objects.create(
        cluster=local, name=f"lag of {group}", group_pattern=group, threshold=10
    )
    values = {"since_ms": 1, "fired_at_ms": 2, "fired_tick": 1, "lag": 50, "threshold": 10}
    return Alert.objects.create(cluster=local, rule=rule, group=group, **(values | more))


def test_a_broker_that_is_down_is_said_once_in_the_banner_of_all_pages(local, admin, client_of):
    brokers = [row | {"up": row["id"] != 1} for row in BROKERS]
    assert context(local, rights_of(admin, local), brokers=brokers)["problems"] == []
    page = client_of(admin).get("/c/local/").content.decode()
    assert page.count("Broker 1 (127.0.0.1:9092) does not answer") == 1


def test_a_firing_alert_is_a_problem_with_its_rule_and_group(local, admin):
    an_alert(local, "billing")
    (alert,) = (p for p in context(local, rights_of(admin, local))["problems"] if "lag" in p.title)
    assert "The lag of billing is above 10" in alert.title
    assert "lag of billing" in alert.text
    assert [link.url for link in alert.links] == ["/c/local/groups/billing", "/c/local/alerts"]


def test_more_problems_than_shown_are_counted(local, admin):
    for number in range(8):
        an_alert(local, f"group-{number}")
    found = context(local, rights_of(admin, local))
    assert len(found["problems"]) == 5
    assert found["more_problems"] >= 3


def test_a_stalled_group_with_an_alert_is_one_problem(local, admin):
    stalled = [
        {"group": name, "state": "Stable", "members": 1, "topic": "orders", "partition": 0,
         "committed_offset": 60, "log_end_offset": 100, "member_id": "m-1"}
        for name in ("billing", "payers")
    ]  # fmt: skip
    rights = rights_of(admin, local)
    first = tick_now() + 1
    for number in range(first, first + 40):
        sample("local", number, groups=stalled)
    snapshot_cache.refresh("local")
    (both,) = (p for p in context(local, rights)["problems"] if p.kind == "Stalled")
    assert both.text == "billing, payers"
    an_alert(local, "billing")
    (other,) = (p for p in context(local, rights)["problems"] if p.kind == "Stalled")
    assert other.text == "payers"
    assert [link.url for link in other.links] == [reverse("group", args=["local", "payers"])]


def test_a_figure_says_how_it_changed_only_if_both_ends_are_known():
    assert overview._change_text([200.0, None, 178.0]) == "−11 % since the line's start"
    assert overview._change_text([None, 178.0]) == ""
    assert overview._change_text([5.0]) == ""


def brokers_with(**changes: object) -> list[dict]:
    sizes = {"disk_total_bytes": 1000, "disk_free_bytes": 500}
    return [BROKERS[0] | sizes | changes, BROKERS[0] | sizes | {"id": 2, "port": 9093}]


@pytest.mark.parametrize(
    ("free", "tone", "said"), [(151, None, ""), (150, "warn", "85"), (40, "bad", "96")]
)
def test_a_disk_that_is_nearly_full_is_a_problem_with_its_figure(local, admin, free, tone, said):
    brokers = brokers_with(disk_free_bytes=free)
    found = context(local, rights_of(admin, local), brokers=brokers, groups=[])
    assert [problem.tone for problem in found["problems"]] == ([tone] if tone else [])
    for problem in found["problems"]:
        assert f"Broker 1: disk {said}.0" in problem.title
        assert [link.url for link in problem.links] == ["/c/local/brokers/1"]


def test_every_page_of_an_overloaded_broker_says_why(local, admin, client_of):
    sample_next(brokers=brokers_with(disk_free_bytes=40))
    snapshot_cache.refresh("local")
    for page in ("/c/local/", "/c/local/brokers", "/c/local/brokers/1"):
        text = client_of(admin).get(page).content.decode()
        assert "warning from 85" in text, page
        assert ('high="85"' in text) == (page != "/c/local/brokers/1"), page
    assert "warning from" not in client_of(admin).get("/c/local/brokers/2").content.decode()


def test_rows_lead_to_where_their_job_goes_on(local, operator, viewer, client_of):
    jobs = {
        "/c/local/group-reset/billing": "operator",
        "/c/local/topics/orders/config#id_retention.ms": "operator",
        "/c/local/topics/orders/messages": "viewer",
    }
    for user in (operator, viewer):
        page = client_of(user).get("/c/local/").content.decode()
        for url, role in jobs.items():
            assert (f'href="{url}"' in page) == (role == "viewer" or user == operator)

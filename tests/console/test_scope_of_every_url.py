"""Nobody is told of what lies outside their scope: every URL, walked by people who see one topic
and one group.

Inside are the topic `orders` and the group `billing`, outside `salaries` and `payers`. Each group
reads both topics, and everything that the console keeps is there twice: about what is inside and
about what is outside.
"""

import pyarrow as pa
import pytest
from django.urls import reverse
from django.utils import timezone

from console.accounts.rights import rights_of
from console.actions.models import Plan
from console.audit import write_entry as audit
from console.live import fragment_renderer, registry
from console.records.models import MaskingRule
from monitoring.models import Alert, AlertDelivery, AlertRule, ClusterEvent, Report
from monitoring.reports import result_files
from monitoring.reports.models import State
from tests.console.conftest import GROUPS, PARTITIONS, a_user, content_of, sample
from tests.console.reports.conftest import GROUPS as REPORT_GROUPS
from tests.console.reports.conftest import TOPICS as REPORT_TOPICS
from tests.console.test_every_url import PLAN, TABLE
from tests.support.fake_gateway import fake_cluster  # noqa: F401  (a fixture)

ROLES = ("viewer", "operator", "admin")
INSIDE, OUTSIDE = (
    {"orders": "orders", "billing": "billing", "orders-value": "orders-value"},
    {"orders": "salaries", "billing": "payers", "orders-value": "salaries-value"},
)
ELSEWHERE = ("salaries", "payers")


def a_tick() -> None:
    orders = [row for row in PARTITIONS if row["topic"] == "orders"]
    salaries = [row | {"topic": "salaries"} for row in orders]
    reads = [row | {"topic": topic} for topic in ("orders", "salaries") for row in GROUPS[:2]]
    others = [row | {"group": "payers", "client_id": "payers-app"} for row in reads]
    refused = ["group payers: partitions that topic salaries does not have"]
    sample(partitions=orders + salaries, groups=reads + others, invalid=refused)


def a_rule(cluster, group: str, topic: str) -> int:
    """A rule that fires, has fired and has told so; its id."""
    rule = AlertRule(
        cluster=cluster,
        name=f"of {group}",
        group_pattern=group,
        topic_pattern=topic,
        threshold=1,
    )
    rule.set_webhook("http://hooks.example/", "s3cret")
    rule.save()
    for state in (Alert.State.FIRING, Alert.State.RESOLVED):
        alert = Alert.objects.create(
            rule=rule, cluster=cluster, group=group, topic=topic, state=state, since_ms=1,
            fired_at_ms=2, fired_tick=1, lag=80, threshold=1, resolved_at_ms=3,
        )  # fmt: skip
        AlertDelivery.objects.create(
            rule=rule, alert=alert, event="fired", payload={}, error=f"{group} {topic}"
        )
    return rule.pk


def a_report(cluster, group: str, topic: str) -> str:
    report = Report.objects.create(
        kind="throughput-and-lag", cluster=cluster, params={"from_ms": 0, "to_ms": 3_600_000},
        topics=[topic], groups=[group], state=State.DONE, progress=100,
    )  # fmt: skip
    tables = {
        "topics": pa.Table.from_pylist([REPORT_TOPICS[0] | {"topic": topic}]),
        "groups": pa.Table.from_pylist([REPORT_GROUPS[0] | {"group": group}]),
    }
    figures = {
        "ticks": 1, "first_at_ms": 0, "last_at_ms": 1, "interval_ms": 5000, "bucket_ms": 60_000,
        "topics": 1, "groups": 1, "messages": 1, "bytes": 1, "busiest_topic": topic,
        "busiest_messages": 1, "worst_group": group, "worst_lag": 1, "worst_lag_at_ms": 1,
        "worst_lag_last": 1, "groups_ahead": 0, "topics_least": False, "groups_least": False,
        "messages_least": False, "bytes_least": False,
    }  # fmt: skip
    report.result_dir = result_files.write(report.id, tables, figures, {})
    report.save()
    return str(report.id)


def a_plan(cluster, user, topic: str) -> str:
    draft = {
        "title": f"Delete {topic}", "changes": [], "affected": [], "warnings": [], "undo": "",
        "typed_name": topic,
    }  # fmt: skip
    plan = Plan.objects.create(
        cluster=cluster.slug, action="topic.delete", resource=topic, params={"name": topic},
        facts={}, draft=draft, created_by=user, state="done", created_at=timezone.now(),
    )  # fmt: skip
    return str(plan.pk)


@pytest.fixture
def world(redis_server, clusters, fake_cluster):  # noqa: F811
    """Makes everything twice for a user; returns the ids of what is inside and outside."""
    cluster, _other = clusters
    a_tick()
    for topic in ("orders", "salaries"):
        fake_cluster.create_topic(topic, 2)

    def make(user, group: str, topic: str) -> dict[str, str]:
        rule = a_rule(cluster, group, topic)
        masking = MaskingRule.objects.create(
            cluster=cluster, topic_pattern=topic, target=f"value.{topic}"
        )
        ClusterEvent.objects.create(
            cluster=cluster, tick=1, at_ms=1, kind="rebalance", name=group, members=1
        )
        audit.record(user, "topic.delete", "local", topic, {"name": topic})
        audit.record(user, "alert.add", "local", f"of {group}", {}, {"group_pattern": group})
        audit.record(user, "masking.add", "local", topic, {}, {"topics": topic})
        return {
            "report": a_report(cluster, group, topic),
            "plan": a_plan(cluster, user, topic),
            "alert": str(rule),
            "masking": str(masking.pk),
        }

    return lambda user: (make(user, "billing", "orders"), make(user, "payers", "salaries"))


def arguments(name: str, row: list, names: dict[str, str], ids: dict[str, str]) -> list:
    """The arguments of a row of the table, about what is inside or outside."""
    found = [names.get(argument, argument) for argument in row]
    kind = name.partition("-")[0]
    if kind in ids and len(row) > 1:
        found[1] = ids[kind]
    return found


def text_of(response) -> str:
    where = response.headers.get("Location", "") + response.headers.get("Content-Disposition", "")
    return content_of(response).decode("latin-1") + where


@pytest.fixture(params=ROLES)
def scoped(request, db):
    return a_user(
        f"scoped-{request.param}", request.param, topics=["orders"], groups=["billing"]
    )  # fmt: skip


NAMES = sorted(set(TABLE) - {"login", "logout"})


def urls(names: dict[str, str], ids: dict[str, str]) -> dict[str, str]:
    """Every URL about these → its name."""
    rows = [(name, row) for name in NAMES for row, _get, _post in TABLE[name]]
    return {reverse(name, args=arguments(name, row, names, ids)): name for name, row in rows}


def test_names_outside_the_scope_appear_in_no_response(scoped, world, client_of):
    inside, outside = world(scoped)
    client, told = client_of(scoped), {}
    words = [*ELSEWHERE, outside["report"], outside["plan"]]
    asked = urls(INSIDE, inside)
    for method in (client.get, client.post):  # first all that changes nothing
        for url in asked:
            answer = method(url)
            assert answer.status_code < 500 or answer.status_code in (502, 503), url
            if found := [word for word in words if word in text_of(answer)]:
                told[url, method.__name__] = found
    assert told == {}


def test_resources_outside_the_scope_get_the_same_404_as_missing_ones(scoped, world, client_of):
    inside, outside = world(scoped)
    client, told = client_of(scoped), {}
    # as long as the names outside
    never = {"orders": "nothing_", "billing": "nobody", "orders-value": "nothing_-value"}
    missing = {"alert": "9999", "masking": "9999"} | dict.fromkeys(("report", "plan"), str(PLAN))
    about, lost = urls(OUTSIDE, outside), urls(never, missing)
    for url, other in zip(about, lost, strict=True):
        if url in urls(INSIDE, inside):
            continue  # it names neither a topic nor a group
        for method in (client.get, client.post):
            found, expected = method(url), method(other)
            same = found.status_code == expected.status_code in (403, 404, 405)
            if not same or found.headers["Content-Type"] != expected.headers["Content-Type"]:
                told[url, method.__name__] = (found.status_code, expected.status_code)
            if "error" in text_of(found) and found.status_code == 404:
                text = text_of(found).replace("salaries", "nothing_").replace("payers", "nobody")
                for mine, theirs in zip(outside.values(), missing.values(), strict=False):
                    text = text.replace(mine, theirs)
                if len(text) != len(text_of(expected)):
                    told[url, method.__name__] = "other words"
    assert told == {}


@pytest.mark.parametrize("asked", [
    {"of": "group", "show": "lag", "group": "payers"},
    {"of": "topic", "show": "records", "topic": "salaries"},
    {"of": "topic", "show": "size", "topic": "salaries", "partition": "0"},
    {"of": "cluster", "show": "records"},
])  # fmt: skip
def test_a_chart_of_what_is_outside_the_scope_is_not_found(asked, scoped, world, client_of):
    world(scoped)
    answer = client_of(scoped).get(reverse("chart", args=["local"]), asked)
    assert answer.status_code == 404


def test_the_chart_of_a_group_has_no_line_of_a_topic_outside_the_scope(scoped, world, client_of):
    world(scoped)
    asked = {"of": "group", "show": "lag", "group": "billing", "range": "15m"}
    answer = client_of(scoped).get(reverse("chart", args=["local"]), asked)
    assert answer.status_code == 200
    assert b"salaries" not in answer.content


def test_pushed_fragments_name_nothing_outside_the_scope(scoped, world, clusters):
    world(scoped)
    cluster, rights = clusters[0], rights_of(scoped, clusters[0])
    for name in registry._fragments:
        for argument in ("", ":orders", ":billing", ":salaries", ":payers"):
            show = registry.parse(name + argument)
            html = fragment_renderer.render(cluster, rights, show)
            assert show is not None
            assert not [word for word in ELSEWHERE if word in html], name + argument


def test_resources_inside_the_scope_are_shown(scoped, world, client_of):
    inside, _outside = world(scoped)
    client = client_of(scoped)
    for name, words in (
        ("dashboard", ("orders", "billing")),
        ("changes", ("billing",)),
        ("topics", ("orders",)),
        ("groups", ("billing",)),
        ("alerts", ("of billing",)),
        ("alert-rules", ("of billing",)),
        ("alert-deliveries", ("billing orders",)),
        ("reports", (inside["report"],)),
    ):
        text = text_of(client.get(reverse(name, args=["local"])))
        assert all(word in text for word in words), name

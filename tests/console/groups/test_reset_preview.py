"""The preview beside the form of a reset: the same offsets as the plan, and nothing is written."""

from typing import Any

import pytest
from django.urls import reverse

from console.actions.models import Plan
from console.groups.compute_reset_offsets import CommitInLog
from console.groups.read_partitions_to_reset import ResolvedReset
from console.groups.reset_preview import ROWS_MAX, preview_of
from console.ui import numbers
from monitoring.gateway.errors import ClusterUnavailable
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)

WRITES = {"alter_offsets", "delete_offsets", "delete_group"}


@pytest.fixture
def cluster(sampled, fake_cluster: FakeCluster) -> FakeCluster:  # noqa: F811
    fake_cluster.create_topic("orders", 2)
    for number in range(2):
        fake_cluster.produce("orders", number, *(b"%d" % value for value in range(100)))
    fake_cluster.commits["billing"] = {("orders", 0): 60}
    return fake_cluster


def preview(client: Any, **fields: Any) -> str:
    url = reverse("group-reset-preview", args=["local", "billing"])
    answer = client.post(url, fields)
    assert answer.status_code == 200
    return answer.content.decode()


def figures(html: str) -> list[str]:
    parts = html.split('class="stat-value">')[1:]
    return [part.partition("<")[0] for part in parts]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"how": "earliest"}, ["60", "0", "200", "2"]),
        ({"how": "latest"}, ["0", "40", "0", "2"]),
        ({"how": "latest", "topic": "orders", "partitions": "0"}, ["0", "40", "0", "1"]),
        ({"how": "offset", "offset": "42", "topic": "orders"}, ["18", "0", "116", "2"]),
        ({"how": "shift", "shift": "-7"}, ["7", "0", "47", "1"]),
    ],
)
def test_the_preview_has_the_sums_of_the_review_and_makes_no_plan(
    cluster, client_of, operator, fields, expected
):
    client = client_of(operator)
    assert figures(preview(client, **fields)) == expected
    assert not Plan.objects.exists()
    assert not WRITES & set(cluster.calls)
    answer = client.post(reverse("group-reset", args=["local", "billing"]), fields)
    assert figures(client.get(answer.url).content.decode()) == expected


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"how": "offset"}, "Fill in the form"),
        ({"how": "offset", "offset": "-1"}, "greater than or equal to 0"),
        ({"how": "offset", "offset": "101"}, "Offset 101 is not in partition 0"),
        ({"how": "duration", "ago": "soon"}, "Enter a number and a unit"),
        ({"how": "group", "from_group": "nobody"}, "has committed no offsets"),
        ({"how": "latest", "topic": "orders", "partitions": "7"}, "There is no partition orders-7"),
        ({"how": "gossip"}, "Select a valid choice"),
    ],
)
def test_what_is_not_possible_is_said_while_the_form_is_filled_in(
    cluster, client_of, operator, fields, said
):
    html = preview(client_of(operator), **fields)
    assert said in html
    assert "stat-value" not in html


def test_a_cluster_that_does_not_answer_is_said(cluster, client_of, operator):
    cluster.fails["committed"] = ClusterUnavailable("no broker answered")
    assert "The cluster could not be read" in preview(client_of(operator), how="earliest")


def test_previews_are_limited_per_minute(cluster, client_of, operator, monkeypatch):
    monkeypatch.setattr("console.groups.action_views.PREVIEWS_PER_MINUTE_MAX", 1)
    client = client_of(operator)
    assert "stat-value" in preview(client, how="earliest")
    calls = len(cluster.calls)
    assert "Too many previews" in preview(client, how="earliest")
    assert len(cluster.calls) == calls


def test_only_those_who_may_reset_offsets_get_a_preview(cluster, client_of, viewer, outsider):
    url = reverse("group-reset-preview", args=["local", "billing"])
    for user, status in ((viewer, 403), (outsider, 404)):
        assert client_of(user).post(url, {"how": "earliest"}).status_code == status
    assert cluster.calls == []


def resolved(*partitions: tuple[int | None, range, int | None]) -> ResolvedReset:
    """Of each partition: the commit, the log, the new offset."""
    commits = {
        ("t", n): CommitInLog(commit, log) for n, (commit, log, _new) in enumerate(partitions)
    }
    offsets = {("t", n): new for n, (_c, _l, new) in enumerate(partitions) if new is not None}
    return ResolvedReset(commits, offsets)


def test_all_lines_have_one_scale_counted_back_from_the_end():
    near, far = (
        row.line
        for row in preview_of(resolved((950, range(1000), 900), (1000, range(800, 1000), 800))).rows
    )
    assert (far.left, far.left + far.width) == (28.0, 254.0)
    assert near.width == pytest.approx(far.width / 4, abs=0.2)
    assert near.is_broken
    assert not far.is_broken
    assert far.start == far.left


def test_a_partition_that_stays_or_was_never_committed_has_no_bar():
    stays, first = (
        row.line for row in preview_of(resolved((5, range(10), None), (None, range(10), 0))).rows
    )
    assert (stays.width, first.width) == (0, 0)
    assert stays.new is None
    assert first.committed is None


def test_empty_logs_are_drawn_at_the_end():
    [row] = preview_of(resolved((7, range(7, 7), 7))).rows
    assert (row.line.start, row.line.committed, row.line.new) == (254.0, 254.0, 254.0)


def test_many_partitions_are_counted_and_the_first_are_listed():
    found = preview_of(resolved(*[(0, range(10), 10)] * (ROWS_MAX + 5)))
    assert (len(found.rows), found.count, found.changed) == (ROWS_MAX, 105, 105)
    assert found.figures[1].value == numbers.count(1050)

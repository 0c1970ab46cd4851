"""The columns and the filters of the list of topics."""

import time

import pytest

from console.topics import topic_list
from tests.console.conftest import GROUPS, PARTITIONS, a_user, sample_next


def page(client, query: str = "") -> str:
    return client.get(f"/c/local/topics{query}").content.decode()


def test_the_list_has_state_and_lag_of_the_groups(sampled, client_of, viewer):
    text = page(client_of(viewer))
    assert "Worst state" in text
    assert "Largest lag" in text
    assert ">80<" in text


def test_columns_are_chosen_in_the_url(sampled, client_of, viewer):
    answer = client_of(viewer).get("/c/local/topics?columns=size,disk")
    assert [column.key for column in answer.context["table"].columns] == ["name", "size", "disk"]
    assert (
        topic_list.shown_columns("")
        == topic_list.shown_columns("no,such")
        == frozenset(topic_list.SHOWN_BY_DEFAULT)
    )


def test_each_toggle_hides_or_shows_one_column():
    every = topic_list.columns()
    shown = frozenset({"name", "size"})
    texts = {column.key: text for column, text in topic_list.column_toggles(every, shown)}
    assert texts["disk"] == "name,size,disk"
    assert texts["size"] == "name"
    assert "name" not in texts


@pytest.mark.parametrize("name", topic_list.FILTERS)
def test_each_filter_has_a_title_and_a_page(sampled, client_of, viewer, name):
    assert name in dict(topic_list.filter_titles())
    assert 'aria-current="true"' in page(client_of(viewer), f"?show={name}")


def test_a_filter_shows_only_what_matches(sampled, client_of, viewer):
    rows = [
        *PARTITIONS,
        PARTITIONS[0] | {"topic": "torn", "replicas": [1, 2], "isr": [1]},
        PARTITIONS[0] | {"topic": "alone"},
    ]
    sample_next(partitions=rows)
    client = client_of(viewer)
    assert "/topics/torn" in page(client, "?show=unhealthy")
    assert "/topics/alone" not in page(client, "?show=unhealthy")
    assert "/topics/alone" in page(client, "?show=unread")
    assert "/topics/orders" not in page(client, "?show=unread")
    assert "No topic matches" in page(client, "?show=unhealthy&q=zzz")


def test_the_csv_has_the_shown_columns(sampled, client_of, viewer):
    answer = client_of(viewer).get("/c/local/topics?columns=lag,spread&format=csv")
    assert answer.content.decode().splitlines()[0] == "name,lag,spread"


def test_the_age_of_the_last_record_is_shown_and_sorted(sampled, client_of, viewer):
    now_ms = int(time.time() * 1000)
    times = {
        "fresh": (now_ms - 5_000, False),
        "old": (now_ms - 3 * 86_400_000, False),
        "behind": (now_ms - 60_000, True),
        "ahead": (now_ms + 86_400_000, False),
        "empty": (None, False),
        "unknown": (None, True),
    }
    rows = [
        PARTITIONS[0] | {"topic": name, "last_record_ms": at, "has_newer_records": newer}
        for name, (at, newer) in times.items()
    ]
    sample_next(partitions=rows, groups=[])
    answer = client_of(viewer).get("/c/local/topics?sort=last-record&columns=last-record")
    names = [row.name for row, *_ in answer.context["table"].rows]
    assert names == ["old", "behind", "fresh", "ahead", "empty", "unknown"]
    cells = dict(zip(names, answer.content.decode().split("<tr>")[-6:], strict=True))
    assert ">3 days ago</time>" in cells["old"]
    assert " UTC" in cells["old"]
    assert "≤ <time" in cells["behind"]
    assert "in the future" in cells["ahead"]
    assert ">none<" in cells["empty"]
    assert ">—<" in cells["unknown"]
    exported = client_of(viewer).get("/c/local/topics?columns=last-record&format=csv")
    assert "+00:00" in exported.content.decode()


def test_the_groups_of_a_topic_are_listed_with_state_and_lag_the_worst_first(
    sampled, client_of, viewer
):
    groups = [
        GROUPS[0] | {"group": name, "partition": 0, "committed_offset": commit}
        for name, commit in (("a", 100), ("b", 100), ("c", 30), ("d", None))
    ]
    sample_next(groups=groups)
    text = page(client_of(viewer), "?columns=groups")
    assert [part.split("<")[0] for part in text.split("<bdi>")[-3:]] == ["d", "c", "a"]
    assert 'aria-label="Not committed"' in text
    assert "all 4" in text
    assert "/topics/orders/consumers" in text


def test_groups_outside_of_the_scope_are_not_listed(sampled, client_of, viewer):
    columns = "?columns=groups,state,lag"
    assert "billing" in page(client_of(viewer), columns)
    user = a_user("narrow", "viewer", topics=["*"], groups=["audit*"])
    assert "billing" not in page(client_of(user), columns)

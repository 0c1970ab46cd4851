"""The columns and the filters of the list of topics."""

import pytest

from console.topics import topic_list
from tests.console.conftest import PARTITIONS, sample_next


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
    texts = {column.key: text for column, text in topic_list.toggles(every, shown)}
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

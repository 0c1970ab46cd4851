import pytest

from console.actions import registry
from console.actions.models import Plan


@pytest.mark.parametrize(
    ("action", "again"),
    [
        ("topic.create", "/c/local/create-topic"),
        ("topic.add-partitions", "/c/local/topics/orders/add-partitions"),
        ("topic.delete", "/c/local/topics/orders/delete"),
    ],
)
def test_each_action_type_has_a_url_to_plan_again(action: str, again: str) -> None:
    assert registry.find(action).form_url(Plan(cluster="local", resource="orders")) == again


@pytest.mark.parametrize(
    ("action", "is_done", "to_the_topic"),
    [
        ("topic.create", True, True),
        ("topic.create", False, False),
        ("topic.add-partitions", True, True),
        ("topic.add-partitions", False, True),
        ("topic.delete", True, False),
        ("topic.delete", False, True),
    ],
)
def test_an_ended_plan_links_to_its_topic_if_that_exists(
    action: str, is_done: bool, to_the_topic: bool
) -> None:
    url, text = registry.find(action).next_link("local", "orders", is_done)
    assert text == ("Go to the topic" if to_the_topic else "Go to the topics")
    assert ("orders" in url) == to_the_topic


@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("topic.create", "Create topic"),
        ("topic.delete", "Delete permanently"),
        ("topics.purge", "Delete records"),
        ("group.reset-offsets", "Change offsets"),
    ],
)
def test_the_button_that_applies_a_plan_says_what_it_does(action: str, label: str) -> None:
    assert registry.find(action).confirm_label() == label


def test_no_button_says_only_that_it_applies() -> None:
    labels = {name: registry.find(name).confirm_label() for name in registry.actions()}
    assert [name for name, label in labels.items() if label == "Apply"] == []

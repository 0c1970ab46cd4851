"""What is said where things changed between the review of a plan and its application."""

from console.topics.actions.changes_since_review import of_existing_topic, of_new_topic

NEW = {"exists": False, "brokers": 3, "colliding": [], "objection": ""}


def test_equal_facts_have_no_differences():
    assert of_new_topic(NEW, NEW) == []
    same = {"partitions": 1, "replicas": [[1]]}
    assert of_existing_topic(same, same) == []


def test_differences_for_a_new_topic_are_described():
    assert of_new_topic(NEW, NEW | {"exists": True}) == [
        "A topic with this name was created meanwhile."
    ]
    assert of_new_topic(NEW, NEW | {"brokers": 1}) == [
        "The cluster has 1 broker now, instead of 3."
    ]
    assert of_new_topic(NEW, NEW | {"colliding": ["a.b"]}) == ["Its name collides with “a.b” now."]
    refused = NEW | {"objection": "Too many."}
    assert of_new_topic(NEW, refused) == ["The brokers refuse it now: Too many."]


def test_new_partitions_and_moved_replicas_are_described():
    then = {"partitions": 2, "replicas": [[1], [2]]}
    assert of_existing_topic(then, {"partitions": 3, "replicas": [[1], [2], [3]]}) == [
        "It has 3 partitions now, instead of 2."
    ]
    assert of_existing_topic(then, {"partitions": 2, "replicas": [[1], [2, 3]]}) == [
        "The replicas of partition 1 are on brokers [2, 3] now, instead of [2]."
    ]


def test_a_topic_that_was_recreated_is_reported_and_nothing_else_of_it():
    then = {"topic_id": "a", "partitions": 2, "replicas": [[1], [2]]}
    assert of_existing_topic(then, {"topic_id": "b", "partitions": 3, "replicas": [[1]] * 3}) == [
        "The topic was deleted and created again."
    ]


def test_only_some_of_many_moved_replicas_are_listed():
    then = {"partitions": 9, "replicas": [[1]] * 9}
    lines = of_existing_topic(then, {"partitions": 9, "replicas": [[2]] * 9})
    assert len(lines) == 6
    assert lines[-1] == "4 more partitions moved."

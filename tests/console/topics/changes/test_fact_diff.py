"""What is said where things changed between the review of a plan and its application."""

from console.topics.changes.fact_diff import of_existing_topic, of_new_topic

NEW = {"exists": False, "brokers": 3, "alike": [], "objection": ""}


def test_nothing_is_reported_of_what_stayed():
    assert of_new_topic(NEW, NEW) == []
    same = {"partitions": 1, "replicas": [[1]]}
    assert of_existing_topic(same, same) == []


def test_what_stands_in_the_way_of_a_new_topic_is_reported():
    assert of_new_topic(NEW, NEW | {"exists": True}) == [
        "A topic with this name was created meanwhile."
    ]
    assert of_new_topic(NEW, NEW | {"brokers": 1}) == ["1 broker is there now, 3 were."]
    assert of_new_topic(NEW, NEW | {"alike": ["a.b"]}) == ["Its name collides with “a.b” now."]
    refused = NEW | {"objection": "Too many."}
    assert of_new_topic(NEW, refused) == ["The brokers object now: Too many."]


def test_partitions_and_moves_are_reported_in_words_and_not_as_lists():
    then = {"partitions": 2, "replicas": [[1], [2]]}
    assert of_existing_topic(then, {"partitions": 3, "replicas": [[1], [2], [3]]}) == [
        "It has 3 partitions now and had 2."
    ]
    assert of_existing_topic(then, {"partitions": 2, "replicas": [[1], [2, 3]]}) == [
        "Partition 1 has replicas on brokers [2, 3] now and had them on [2]."
    ]


def test_a_topic_that_was_recreated_is_reported_and_nothing_else_of_it():
    then = {"topic_id": "a", "partitions": 2, "replicas": [[1], [2]]}
    assert of_existing_topic(then, {"topic_id": "b", "partitions": 3, "replicas": [[1]] * 3}) == [
        "The topic was deleted and created again."
    ]


def test_of_many_moves_some_are_reported_and_the_others_counted():
    then = {"partitions": 9, "replicas": [[1]] * 9}
    lines = of_existing_topic(then, {"partitions": 9, "replicas": [[2]] * 9})
    assert len(lines) == 6
    assert lines[-1] == "4 more partitions moved."

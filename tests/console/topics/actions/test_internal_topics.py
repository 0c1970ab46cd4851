import pytest

from console.actions.draft import PlanRefused
from console.topics.actions.add_partitions import AddPartitions
from console.topics.actions.delete import DeleteTopic


@pytest.mark.parametrize("change", [DeleteTopic(), AddPartitions()])
def test_changes_to_internal_topics_are_refused(change):
    facts = {"partitions": 50, "replicas": [[1]] * 50}
    with pytest.raises(PlanRefused, match="internal topic of the cluster"):
        change.draft(facts, {"name": "__consumer_offsets", "total": 99}, None)

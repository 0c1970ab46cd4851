import pytest

from console.actions.draft import PlanRefused
from console.topics.changes.add_partitions import AddPartitions
from console.topics.changes.delete import DeleteTopic


@pytest.mark.parametrize("change", [DeleteTopic(), AddPartitions()])
def test_the_clusters_own_topics_are_never_planned_to_change(change):
    facts = {"partitions": 50, "replicas": [[1]] * 50}
    with pytest.raises(PlanRefused, match="belongs to the cluster itself"):
        change.draft(facts, {"name": "__consumer_offsets", "total": 99}, None)

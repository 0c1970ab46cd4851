import pytest

from console.actions.plan import PlanRefused
from console.topics.changes import draft_add_partitions, draft_delete


@pytest.mark.parametrize("draft", [draft_delete, draft_add_partitions])
def test_the_clusters_own_topics_are_never_planned_to_change(draft):
    facts = {"partitions": 50, "replicas": [[1]] * 50}
    with pytest.raises(PlanRefused, match="belongs to the cluster itself"):
        draft(facts, {"name": "__consumer_offsets", "total": 99}, None)

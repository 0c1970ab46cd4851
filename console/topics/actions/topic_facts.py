"""The facts of changes to an existing topic."""

from console.actions.action_type import Params
from console.actions.draft import Facts
from monitoring.gateway.gateway import Gateway


def read_existing(gateway: Gateway, params: Params) -> Facts:
    """The facts of an existing topic: id, partitions and replicas."""
    topic = gateway.topics.describe_topic(params["name"])
    return {
        "topic_id": topic.topic_id,  # differs if the topic was deleted and created again
        "partitions": len(topic.partitions),
        "replicas": [sorted(partition.replicas) for partition in topic.partitions],
    }

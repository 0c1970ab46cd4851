"""The type of a partition's name, as Kafka's clients have it, and its name in one text."""

TopicPartition = tuple[str, int]  # the topic and the number of the partition


def partition_key(topic: str, partition: int) -> str:
    """The partition as a key of plans: its name in Kafka's tools and log directories."""
    return f"{topic}-{partition}"

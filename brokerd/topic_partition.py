"""The key of a partition: the name of its topic and its number."""

TopicPartition = tuple[str, int]

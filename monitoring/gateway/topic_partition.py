"""The name of a partition, as Kafka's clients have it."""

TopicPartition = tuple[str, int]  # the topic and the number of the partition

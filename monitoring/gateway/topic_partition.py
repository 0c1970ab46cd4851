"""The type of a partition's name, as Kafka's clients have it."""

TopicPartition = tuple[str, int]  # the topic and the number of the partition

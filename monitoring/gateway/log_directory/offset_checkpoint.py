"""Kafka's file `log-start-offset-checkpoint`. Pure.

0                       the version
2                       the number of entries
orders 0 1200           topic, partition, offset
orders 1 7
"""

from monitoring.error_reason import Reason
from monitoring.gateway.log_directory.damaged_file import DamagedFile
from monitoring.gateway.topic_partition import TopicPartition

NAME = "log-start-offset-checkpoint"


def parse(text: str) -> dict[TopicPartition, int]:
    """The offsets in the file; an empty file has none. Raises DamagedFile."""
    version, _, rest = text.partition("\n")
    if not text.strip():
        return {}
    if version.strip() != "0":
        raise DamagedFile(Reason("checkpoint_version"))
    count, _, lines = rest.partition("\n")
    try:
        rows = [line.split() for line in lines.splitlines()]
        found = {(topic, int(partition)): int(offset) for topic, partition, offset in rows}
        expected = int(count)
    except ValueError as error:
        raise DamagedFile(Reason("checkpoint_line")) from error
    if len(found) != expected:
        raise DamagedFile(Reason("checkpoint_count"))
    return found

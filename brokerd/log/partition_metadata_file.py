"""The topic id of each log, in the file `partition.metadata` of its directory.

    version: 0
    topic_id: <22 characters of base64url>

A log whose file says another topic's id, or nothing that can be read, is not served and not
touched: only a person can tell whether its records are an older topic's. Without a file (Kafka
before 2.8), or with an empty one, the log is that of the topic that has the name now.
"""

import logging
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, Final
from uuid import UUID

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import checkpoint_file, file_names
from brokerd.log.io.files import read_whole
from brokerd.topic_partition import TopicPartition

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog

logger = logging.getLogger(__name__)

NIL: Final = UUID(int=0)


class TopicIds:
    """The topic ids of logs, and the errors of those whose id is not known."""

    def __init__(self) -> None:
        self._damaged: dict[TopicPartition, str] = {}

    def of(self, key: TopicPartition, directory: str) -> UUID:
        """The topic id of a log; NIL if the file is missing or damaged. Raises OSError."""
        try:
            return read(directory) or NIL
        except ValueError as error:
            logger.error("%s-%d is not served: %s", *key, error)
            self._damaged[key] = str(error)
            return NIL

    def forget(self, key: TopicPartition) -> None:
        """A log was deleted: its errors do not hold for a new log."""
        self._damaged.pop(key, None)

    def adopt(self, log: "UnifiedLog", topic_id: UUID) -> None:
        """Makes the log that of a topic if it has the same id or none. Raises KafkaError:
        KAFKA_STORAGE_ERROR for a damaged file, INCONSISTENT_TOPIC_ID; OSError."""
        key = (log.topic, log.partition)
        if key in self._damaged:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, self._damaged[key])
        if log.topic_id == topic_id:
            return
        if log.topic_id != NIL:
            raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID, _inconsistent(log, topic_id))
        write(log.directory, topic_id)
        log.topic_id = topic_id


def _inconsistent(log: "UnifiedLog", topic_id: UUID) -> str:
    return (
        f"{log.directory}/{file_names.PARTITION_METADATA} says topic id {_text(log.topic_id)}, but "
        f"the topic {log.topic} has {_text(topic_id)}: these may be records of an older topic of "
        "that name. Stop the broker and move the directory away, or correct the file if it is "
        "damaged"
    )


def write(directory: str, topic_id: UUID) -> None:
    """Writes the file. Raises OSError."""
    text = f"version: 0\ntopic_id: {_text(topic_id)}"
    checkpoint_file.replace_file(f"{directory}/{file_names.PARTITION_METADATA}", text, sync=False)


def read(directory: str) -> UUID | None:
    """The id in the file; None if the file is missing or empty. Raises ValueError, with what to do,
    if the file is damaged; OSError."""
    path = f"{directory}/{file_names.PARTITION_METADATA}"
    try:
        lines = read_whole(path).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return None
    if not lines:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == "topic_id":
            try:
                topic_id = UUID(bytes=urlsafe_b64decode(value.strip() + "=="))
            except ValueError:
                break
            if topic_id == NIL:  # PartitionMetadataFile refuses it too
                break
            return topic_id
    raise ValueError(
        f"{path} does not say a topic id (line 2 should be 'topic_id: …'), so it is not known "
        "whose records these are; remove the file to have them taken for those of the topic that "
        "has this name now"
    )


def _text(topic_id: UUID) -> str:
    return urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")

"""Encoded topics of Metadata responses, dropped when the topic changes."""

from collections.abc import Collection
from typing import Any, NamedTuple

from brokerd.cluster.metadata_image import ImageDelta, MetadataImage, TopicInfo
from brokerd.cluster.topic_names import INTERNAL_TOPICS
from brokerd.errors import ErrorCode
from brokerd.protocol.acl_operations import NOT_ASKED, TOPIC_OPERATIONS
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item
from brokerd.replication.partition_state import PartitionState

UNCACHED_MAX = 1_000
"""More partitions than this are not encoded in one iteration of the loop (about 5 ms)."""


LISTENER_NOT_FOUND_FROM = 6
"""Before this version a leader that is not where the client asks is not available."""


class View(NamedTuple):
    """What the bytes of a topic depend on. `without_listener` are the live brokers that have not
    the client's listener."""

    version: int
    operations: bool = False
    without_listener: frozenset[int] = frozenset()


class MetadataTopicCache:
    """Encoded topics by view and topic; a change of the image drops the topics that it names."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._encoded: dict[View, dict[str, bytes]] = {}

    def changed(self, delta: ImageDelta) -> None:
        """The image changed; when a broker came or went, all topics are dropped."""
        if delta.brokers_changed:
            self._encoded.clear()
            return
        names = {state.topic for state in delta.partitions}
        names.update(topic for topic, _ in delta.deleted)
        for encoded in self._encoded.values():
            for name in names:
                encoded.pop(name, None)

    def is_slow(self, view: View, infos: Collection[TopicInfo]) -> bool:
        """Whether so many partitions of these topics must be encoded that others would wait."""
        encoded = self._encoded.get(view, {})
        if len(infos) == len(encoded) == len(self._image.topics):
            return False
        missing = 0
        for info in infos:
            if info.name not in encoded:
                missing += 1 + len(info.partitions)
                if missing > UNCACHED_MAX:
                    return True
        return False

    def topic(self, view: View, info: TopicInfo) -> bytes:
        encoded = self._encoded.setdefault(view, {})
        data = encoded.get(info.name)
        if data is None:
            fields = self._fields(info, view)
            data = encode_item(ApiKey.METADATA, view.version, ("topics",), fields)
            encoded[info.name] = data
        return data

    def _fields(self, info: TopicInfo, view: View) -> dict[str, Any]:
        partitions = info.partitions
        return {
            "error_code": 0,
            "name": info.name,
            "topic_id": info.topic_id,
            "is_internal": info.name in INTERNAL_TOPICS,
            "partitions": [self._partition(partitions[it], view) for it in sorted(partitions)],
            "topic_authorized_operations": TOPIC_OPERATIONS if view.operations else NOT_ASKED,
        }

    def _partition(self, state: PartitionState, view: View) -> dict[str, Any]:
        image = self._image
        code = ErrorCode.NONE
        if state.leader in view.without_listener and view.version >= LISTENER_NOT_FOUND_FROM:
            code = ErrorCode.LISTENER_NOT_FOUND
        elif state.leader not in image.brokers or state.leader in view.without_listener:
            code = ErrorCode.LEADER_NOT_AVAILABLE
        led = code is ErrorCode.NONE
        return {
            "error_code": int(code),
            "partition_index": state.partition,
            "leader_id": state.leader if led else -1,
            "leader_epoch": state.leader_epoch,
            "replica_nodes": state.replicas,
            "isr_nodes": state.isr,
            "offline_replicas": [
                each
                for each in state.replicas
                if each in view.without_listener
                or image.is_offline(state.topic, state.partition, each)
            ],
        }

"""The partitions that this broker holds. `apply_states` is the one way in: what the change feed
says becomes logs and partitions. A partition whose log cannot be made is in `offline` with the
reason and not served.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from brokerd.clock import Clock
from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log import checkpoint_file
from brokerd.log.log_manager import LogManager
from brokerd.replication.partition import TRAFFIC, Partition
from brokerd.replication.partition_state import PartitionState
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

HIGH_WATERMARK_INTERVAL_MS: Final = 5_000


class ReplicaManager:
    """Not thread-safe."""

    def __init__(
        self,
        logs: LogManager,
        local_id: int,
        clock: Clock,
        checkpoint_interval_ms: int = HIGH_WATERMARK_INTERVAL_MS,
    ) -> None:
        self._logs = logs
        self._clock = clock
        self.local_id = local_id
        self._partitions: dict[TopicPartition, Partition] = {}
        self._high_watermarks = logs.dirs.read(checkpoint_file.HIGH_WATERMARK)
        self._checkpoint_due_ms = clock.now_ms() + checkpoint_interval_ms
        self._checkpoint_interval_ms = checkpoint_interval_ms
        self._round = logs.tasks.round(checkpoint_file.HIGH_WATERMARK)
        self.offline: dict[TopicPartition, str] = {}
        self.gone = [0] * len(TRAFFIC)
        """What the partitions counted that are here no more, so that sums never go back."""
        self.gone_by_topic: dict[str, list[int]] = {}
        """The same by topic, of topics that are not deleted."""

    def get(self, topic: str, index: int) -> Partition | None:
        return self._partitions.get((topic, index))

    def all(self) -> list[Partition]:
        return list(self._partitions.values())

    def disk_failed(self, error: OSError) -> None:
        """A file of a log, which the error names, could not be read."""
        self._logs.disk_failed(error)

    def apply_states(
        self,
        states: Iterable[PartitionState],
        deleted: Iterable[TopicPartition] = (),
        configs: Mapping[str, LogConfig] | None = None,
    ) -> list[Partition]:
        """Applies changed states, after deletions; returns the partitions that changed. `configs`
        are the settings of the topics in `states`; without them Kafka's defaults are used."""
        for key in deleted:
            self._delete(key)
        now_ms = self._clock.now_ms()
        changed = []
        for state in states:
            partition = self._partition_for(state, configs or {}, now_ms)
            if partition is not None and partition.apply(state, now_ms):
                changed.append(partition)
        return changed

    def _partition_for(
        self, state: PartitionState, configs: Mapping[str, LogConfig], now_ms: int
    ) -> Partition | None:
        key = (state.topic, state.partition)
        known = self._partitions.get(key)
        if self.local_id not in state.replicas:
            self.offline.pop(key, None)
            if known is not None:
                known.leave()
                self._forget(known)
            return None
        if known is not None and known.log.topic_id == state.topic_id:
            return known
        if known is not None:  # of a deleted topic with the same name
            known.leave()
            self._forget(known)
        config = configs.get(state.topic) or LogConfig()
        try:
            log = self._logs.create(*key, state.topic_id, config, now_ms, is_new=state.is_new)
        except KafkaError as error:
            if key not in self.offline:
                # What a log directory lacks was said once, for all partitions in it.
                level = logging.DEBUG if self._logs.dirs.offline else logging.WARNING
                logger.log(level, "%s-%d is offline: %s", *key, error.message)
            self.offline[key] = error.message
            return None
        self.offline.pop(key, None)
        high_watermark = self._high_watermarks.pop(key, 0)
        partition = Partition(*key, self.local_id, log, high_watermark)
        self._partitions[key] = partition
        return partition

    def _forget(self, partition: Partition) -> None:
        """Removes a partition; its traffic stays in the sums."""
        del self._partitions[partition.topic, partition.index]
        known = self.gone_by_topic.setdefault(partition.topic, [0] * len(TRAFFIC))
        for place, value in enumerate(partition.traffic()):
            self.gone[place] += value
            known[place] += value

    def take_offline(self, keys: Iterable[TopicPartition], reason: str) -> None:
        """Stops serving these partitions: their log directory has failed."""
        for key in keys:
            self._high_watermarks.pop(key, None)
            self.offline[key] = reason
            partition = self._partitions.get(key)
            if partition is not None:
                self._forget(partition)
                partition.leave()

    def _delete(self, key: TopicPartition) -> None:
        """What lies in a log directory that is offline stays offline: it cannot be deleted now."""
        partition = self._partitions.get(key)
        if partition is not None:
            self._forget(partition)
        self.gone_by_topic.pop(key[0], None)
        self._high_watermarks.pop(key, None)
        if partition is not None:
            partition.leave()
        if key in self.offline and self._logs.dirs.may_hold_unseen(key):
            return
        try:
            self._logs.delete(*key, self._clock.now_ms())
        except KafkaError as error:
            self.offline[key] = error.message
        else:
            self.offline.pop(key, None)

    def reconfigure(self, partition: Partition, config: LogConfig) -> None:
        """Gives a partition's log other settings, if the partition is still here."""
        if self._partitions.get((partition.topic, partition.index)) is partition:
            self._logs.reconfigure(partition.topic, partition.index, config)
            partition.reconfigured()

    def tick(self, now_ms: int) -> bool:
        """Writes the high watermark checkpoint every replica.high.watermark.checkpoint.interval.ms,
        a slice at a time; returns whether there is more to do."""
        if not self._round.is_under_way:
            if now_ms < self._checkpoint_due_ms:
                return False
            self._checkpoint_due_ms = now_ms + self._checkpoint_interval_ms
            self._round.begin(self._checkpointed(), self._high_watermark_of)
        return self._round.step()

    def checkpoint(self) -> None:
        """Writes the high watermarks at once; to be called a last time before logs are closed."""
        self._round.run(self._checkpointed(), self._high_watermark_of)

    def _checkpointed(self) -> list[TopicPartition]:
        return [*self._partitions, *self._high_watermarks]

    def _high_watermark_of(self, key: TopicPartition) -> int | None:
        partition = self._partitions.get(key)
        return partition.high_watermark if partition else self._high_watermarks.get(key)

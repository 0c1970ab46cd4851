"""The group coordinator of this broker (Kafka's GroupCoordinatorService): one GroupRuntime for each
partition of `__consumer_offsets` that it leads.

It begins and ends a runtime with this broker's leadership of the partition, and loads one partition
at a time. It finds the runtime for a request, and the broker that coordinates a group
(FindCoordinator), for which it creates `__consumer_offsets` if it does not exist.
"""

import asyncio
import logging
from collections.abc import Iterable

from brokerd.clock import Clock
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import ImageDelta
from brokerd.config.broker_config import BrokerConfig
from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC, partition_for
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import begin_task, in_turns
from brokerd.integer_ranges import INT16_MAX
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.background.pending_reads import load_log
from brokerd.server.coordinator_runtime.group_runtime import GroupRuntime
from brokerd.server.requests.ack_watchers import AckWatchers

NAME_BYTES_MAX = INT16_MAX
"""What a string in a record of `__consumer_offsets` can hold."""

MS_PER_MINUTE = 60_000
RETRY_MIN_S, RETRY_MAX_S = 0.5, 30.0
"""After a load that failed the next one waits so long; each time twice as long."""

logger = logging.getLogger(__name__)


def group_coordinator_config(config: BrokerConfig) -> GroupCoordinatorConfig:
    return GroupCoordinatorConfig(
        initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
        session_timeout_ms_min=config.group_min_session_timeout_ms,
        session_timeout_ms_max=config.group_max_session_timeout_ms,
        size_max=config.group_max_size,
        offset_metadata_length_max=min(config.offset_metadata_max_bytes, NAME_BYTES_MAX),
        offsets_retention_ms=config.offsets_retention_minutes * MS_PER_MINUTE,
        offsets_retention_check_ms=config.offsets_retention_check_interval_ms,
    )


class GroupCoordinatorService:
    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        replicas: ReplicaManager,
        cluster: BrokerLifecycle,
        acks: AckWatchers,
    ) -> None:
        self._config = config
        self._group_config = group_coordinator_config(config)
        self._clock = clock
        self._replicas = replicas
        self._cluster = cluster
        self._acks = acks
        self._runtimes: dict[int, GroupRuntime] = {}
        self._watched: dict[int, Partition] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._forgetting: set[asyncio.Task[None]] = set()
        self._one_load = asyncio.Lock()
        self._one_creation = asyncio.Lock()

    # Leadership

    def on_delta(self, delta: ImageDelta) -> None:
        """The image changed. To be called after the partitions have taken over their states."""
        moved = {state.partition for state in delta.partitions if state.topic == OFFSETS_TOPIC}
        moved |= {index for topic, index in delta.deleted if topic == OFFSETS_TOPIC}
        for index in sorted(moved):
            self._follow(index)
        gone = {topic for topic, _ in delta.deleted} - {OFFSETS_TOPIC}
        if gone:
            runtimes = list(self._runtimes.values())
            forgetting = in_turns(runtimes, lambda runtime: runtime.forget_topics(gone))
            begin_task(self._forgetting, forgetting)

    async def stop(self) -> None:
        """Resigns from every partition; waiting members are answered NOT_COORDINATOR."""
        loads = list(self._loads.values())
        for index in list(self._watched):
            self._unwatch(index)
        for index in list(self._runtimes):
            self._resign(index)
        for forgetting in self._forgetting:
            forgetting.cancel()
        await asyncio.gather(*loads, *self._forgetting, return_exceptions=True)

    def _follow(self, index: int) -> None:
        """Begins or ends the runtime of a partition, by its leadership now."""
        partition = self._replicas.get(OFFSETS_TOPIC, index)
        self._watch(index, partition)
        runtime = self._runtimes.get(index)
        leader = partition if partition is not None and partition.is_leader else None
        if runtime is not None and leader and runtime.leader_epoch == leader.leader_epoch:
            return
        if runtime is not None:
            self._resign(index)
        if leader is not None:
            self._lead(index, leader)

    def _watch(self, index: int, partition: Partition | None) -> None:
        if self._watched.get(index) is partition:
            return
        self._unwatch(index)
        if partition is not None:
            partition.listeners[self._partition_moved] = None
            self._watched[index] = partition

    def _unwatch(self, index: int) -> None:
        partition = self._watched.pop(index, None)
        if partition is not None:
            del partition.listeners[self._partition_moved]

    def _partition_moved(self, partition: Partition) -> None:
        runtime = self._runtimes.get(partition.index)
        leads = partition.is_leader
        if runtime is not None and leads and runtime.leader_epoch == partition.leader_epoch:
            runtime.partition_moved()
        elif runtime is not None or leads:
            self._follow(partition.index)

    def _lead(self, index: int, partition: Partition) -> None:
        timeout_ms = self._config.offsets_commit_timeout_ms
        runtime = GroupRuntime(
            partition, self._acks, self._group_config, timeout_ms, self._clock, self._held_bytes
        )
        self._runtimes[index] = runtime
        task = asyncio.get_running_loop().create_task(self._load(partition, runtime))
        self._loads[index] = task
        task.add_done_callback(lambda done: self._loaded(index, done))

    async def _load(self, partition: Partition, runtime: GroupRuntime) -> None:
        """Loads the partition, again if that fails; until then COORDINATOR_LOAD_IN_PROGRESS."""
        index, pause_s = partition.index, RETRY_MIN_S
        while True:
            async with self._one_load:
                started_ms = self._clock.now_ms()
                load_log(partition.log)
                if await self._read(index, runtime, pause_s):
                    break
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, RETRY_MAX_S)
        await runtime.begin()
        took_ms = self._clock.now_ms() - started_ms
        if took_ms > 1_000:
            logger.info("loaded %s-%d in %d ms", OFFSETS_TOPIC, index, took_ms)

    async def _read(self, index: int, runtime: GroupRuntime, pause_s: float) -> bool:
        try:
            await runtime.read_log()
        except Exception as error:  # also a lack of threads or memory, which may pass
            logger.error(
                "cannot load %s-%d now, its groups wait; the next try comes in %g s: %s",
                OFFSETS_TOPIC, index, pause_s, error,
            )  # fmt: skip
            if isinstance(error, OSError):
                self._replicas.disk_failed(error)
            return False
        return True

    def _loaded(self, index: int, task: asyncio.Task[None]) -> None:
        if self._loads.get(index) is task:
            del self._loads[index]
        if not task.cancelled() and task.exception() is not None:
            logger.error("cannot load %s-%d", OFFSETS_TOPIC, index, exc_info=task.exception())

    def _resign(self, index: int) -> None:
        task = self._loads.pop(index, None)
        if task is not None:
            task.cancel()
        self._runtimes.pop(index).close()

    # Requests

    def _held_bytes(self) -> int:
        return sum(runtime.coordinator.held_bytes for runtime in self._runtimes.values())

    def runtime(self, group_id: str, *, may_be_empty: bool = False) -> GroupRuntime:
        """The runtime of a group's partition. Raises KafkaError: INVALID_GROUP_ID, NOT_COORDINATOR,
        COORDINATOR_LOAD_IN_PROGRESS. `may_be_empty`: the group '' may have offsets, as in Kafka."""
        if not group_id and not may_be_empty:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
        if len(group_id) > NAME_BYTES_MAX or len(group_id.encode()) > NAME_BYTES_MAX:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is too long")
        runtime = self._runtimes.get(partition_for(group_id, self.partition_count))
        if runtime is None:
            raise KafkaError(
                ErrorCode.NOT_COORDINATOR, f"another broker coordinates the group {group_id}"
            )
        if runtime.loading:
            raise KafkaError(
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, f"the group {group_id} is being loaded"
            )
        return runtime

    def runtimes(self) -> Iterable[GroupRuntime]:
        """All runtimes of this broker, also those that are loading."""
        return self._runtimes.values()

    def knows_partition(self, topic: str, index: int) -> bool:
        """Whether the partition exists, so that offsets for it may be committed."""
        return self._cluster.image.partition(topic, index) is not None

    # FindCoordinator

    @property
    def partition_count(self) -> int:
        """The partitions of `__consumer_offsets`, or those with which it would be created."""
        topic = self._cluster.image.topics.get(OFFSETS_TOPIC)
        # By the highest index: a partition that never had a leader is missing.
        count = max(topic.partitions, default=-1) + 1 if topic else 0
        return count or self._config.offsets_topic_num_partitions

    async def coordinator(self, group_id: str, listener: str) -> tuple[int, str, int]:
        """Id, host and port of the broker that coordinates a group, on the named listener. Raises
        KafkaError: INVALID_GROUP_ID, COORDINATOR_NOT_AVAILABLE."""
        if len(group_id) > NAME_BYTES_MAX:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is too long")
        await self._ensure_topic()
        image = self._cluster.image
        state = image.partition(OFFSETS_TOPIC, partition_for(group_id, self.partition_count))
        endpoint = image.endpoint(state.leader, listener) if state is not None else None
        if state is None or endpoint is None:
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, "the group's partition has no leader now"
            )
        return state.leader, *endpoint

    async def _ensure_topic(self) -> None:
        if OFFSETS_TOPIC in self._cluster.image.topics:
            return
        async with self._one_creation:
            if OFFSETS_TOPIC in self._cluster.image.topics:
                return
            try:
                await self._cluster.topics.auto_create(OFFSETS_TOPIC)
            except KafkaError as error:
                raise KafkaError(
                    ErrorCode.COORDINATOR_NOT_AVAILABLE,
                    f"{OFFSETS_TOPIC} could not be created: {error}",
                ) from error

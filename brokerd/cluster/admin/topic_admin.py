"""Creating, deleting and growing topics (Kafka's ZkAdminManager, AdminZkClient): plan, write the
nodes, wait until the cluster has followed.

Only the topic's node (or the marker of its deletion) is written here; the controller, which watches
these nodes, writes the states. So any broker may create a topic by itself (auto creation), while
requests of clients are served on the controller only, under its fence.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError

from brokerd.cluster.admin.api_errors import CONCURRENT_MAX, as_kafka_error, gather_results
from brokerd.cluster.admin.new_topic_plan import (
    NewPartitions,
    NewTopic,
    TopicPlan,
    automatic_topic,
    plan_creation,
    plan_new_partitions,
)
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.cluster_state_wait import ClusterStateWait
from brokerd.cluster.controller.kafka_controller import KafkaController
from brokerd.cluster.metadata_image import MetadataImage
from brokerd.cluster.topic_names import QUORUM_TOPIC, collision_key, is_topic_name
from brokerd.cluster.zookeeper import paths, zk_data
from brokerd.cluster.zookeeper.multi_operations import ANY_VERSION, Create, Operation, SetData
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, MultiError, ZooKeeper
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import in_turns
from brokerd.replication.partition_state import NO_LEADER

logger = logging.getLogger(__name__)

ATTEMPTS_MAX = 5
AUTO_CREATE_TIMEOUT_S = 5.0
OTHERS_TIMEOUT_S = 1.0
"""How long an answer waits for brokers other than this one to have heard of the change."""


@dataclass(slots=True)
class TopicAdmin:
    """`_service` gives the controller's service while this broker is controller."""

    _zookeeper: ZooKeeper
    _settings: ClusterSettings
    _image: MetadataImage
    _state_wait: ClusterStateWait
    _service: Callable[[], KafkaController | None]
    _creating: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _planned: dict[str, str] = field(default_factory=dict)
    """Topics that `auto_create` is creating: names by collision key (`.` and `_` are the same)."""

    def _controller(self) -> KafkaController:
        service = self._service()
        if service is None:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "This is not the controller of the cluster.")
        return service

    # -- create --------------------------------------------------------------------------------

    async def create(
        self, topics: Sequence[NewTopic], *, timeout_ms: int, validate_only: bool = False
    ) -> dict[str, TopicPlan | KafkaError]:
        """Creates topics; returns the answer per name. Only on the controller."""
        twice = {name for name, n in Counter(t.name for t in topics).items() if n > 1}
        existing = dict(self._image.taken)

        async def one(topic: NewTopic) -> TopicPlan:
            service = self._controller()
            _check_named_once(topic.name, twice)
            if topic.name == QUORUM_TOPIC:
                message = f"Creation of internal topic {QUORUM_TOPIC} is prohibited."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            plan = self._plan(topic, existing)
            if not validate_only:
                existing[collision_key(topic.name)] = topic.name
                await self._write_new(plan, service.fenced)
            return plan

        results = await gather_results(one, {topic.name: topic for topic in topics})
        partition_counts = {
            plan.name: len(plan.node.replicas)
            for plan in results.values()
            if isinstance(plan, TopicPlan)
        }
        if not validate_only:
            for name in await self._await_leaders_everywhere(partition_counts, timeout_ms / 1000):
                results[name] = _timed_out(f"Topic '{name}' is created but not ready yet.")
        return results

    def _plan(self, topic: NewTopic, existing: dict[str, str]) -> TopicPlan:
        brokers = {broker_id: info.rack for broker_id, info in self._image.brokers.items()}
        spread = max(1, len(brokers))
        return plan_creation(
            topic,
            topic_id=uuid4(),
            existing=existing,
            brokers=brokers,
            settings=self._settings,
            start_index=random.randrange(spread),
            shift=random.randrange(spread),
        )

    async def _write_new(
        self, plan: TopicPlan, multi: Callable[[Sequence[Operation]], Awaitable[object]]
    ) -> None:
        """Writes config and node in one multi, over a config that an older topic left."""
        path, data = paths.topic_config(plan.name), zk_data.encode_config(plan.config)
        node = Create(paths.topic(plan.name), zk_data.encode_topic(plan.node))
        config: Operation = Create(path, data)
        for _ in range(ATTEMPTS_MAX):
            try:
                await multi([config, node])
                return
            except MultiError as error:
                if error.operation is node and isinstance(error.cause, NodeExistsError):
                    raise await self._exists_already(plan.name) from None
                if not isinstance(error.cause, NodeExistsError | NoNodeError):
                    raise
            is_left_behind = await self._zookeeper.exists(path) is not None
            config = SetData(path, data, ANY_VERSION) if is_left_behind else Create(path, data)
        message = f"Topic '{plan.name}' is created and deleted all the time, try again."
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)

    async def _exists_already(self, name: str) -> KafkaError:
        message = f"Topic '{name}' already exists."
        if await self._zookeeper.exists(paths.delete_topic(name)) is not None:
            message = f"Topic '{name}' is marked for deletion."
        return KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, message)

    async def _await_leaders(self, partition_counts: dict[str, int], timeout_s: float) -> list[str]:
        """Returns the topics whose partitions did not all get a leader in time."""
        return await self._all_done(
            partition_counts,
            lambda name: self._has_leaders(name, partition_counts[name]),
            timeout_s,
        )

    async def _all_done(
        self, names: Iterable[str], is_done: Callable[[str], bool], timeout_s: float
    ) -> list[str]:
        """Waits for all of them; returns those that are not done in time. An item that is done is
        not checked again: with thousands of items there is progress for each."""
        left = list(names)

        def are_done() -> bool:
            while left and is_done(left[-1]):
                left.pop()
            return not left

        await self._state_wait.until(are_done, timeout_s)
        return [name for name in left if not is_done(name)]

    def _has_leaders(self, name: str, size: int) -> bool:
        info = self._image.topics.get(name)
        if info is None or len(info.partitions) < size:
            return False
        return all(state.leader != NO_LEADER for state in info.partitions.values())

    async def _await_leaders_everywhere(
        self, partition_counts: dict[str, int], timeout_s: float
    ) -> list[str]:
        """As `_await_leaders`; then waits for the other brokers to apply the change, so that a
        client's next request finds it there. Not for long: clients of a slow broker get a retriable
        error."""
        not_ready = await self._await_leaders(partition_counts, timeout_s)
        service = self._service()
        if partition_counts and service is not None:
            await self._state_wait.until(service.is_applied_everywhere, OTHERS_TIMEOUT_S)
        return not_ready

    async def auto_create(self, name: str) -> None:
        """Creates a topic with the broker's defaults (or as `__consumer_offsets`) unless it exists,
        and waits until it has leaders. On any broker; callers for the same name share one attempt.
        Raises KafkaError (bad name, no live broker, LEADER_NOT_AVAILABLE)."""
        task = self._creating.get(name)
        if task is None:
            task = asyncio.ensure_future(self._auto_create(name))
            self._creating[name] = task
            task.add_done_callback(lambda _: self._creating.pop(name, None))
        await asyncio.shield(task)

    async def _auto_create(self, name: str) -> None:
        if name in self._image.topics:
            return
        key = collision_key(name)
        taken = self._image.taken.get(key) or self._planned.get(key)
        existing = {key: taken} if taken else {}
        plan = self._plan(automatic_topic(name, self._settings), existing)
        self._planned[key] = name
        try:
            await self._write_unless_there(plan)
        except (MultiError, *DISCONNECTED) as error:
            raise as_kafka_error(error) from error
        finally:
            del self._planned[key]
        if await self._await_leaders({name: len(plan.node.replicas)}, AUTO_CREATE_TIMEOUT_S):
            message = f"Topic '{name}' has no leaders yet."
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, message)

    async def _write_unless_there(self, plan: TopicPlan) -> None:
        try:
            await self._write_new(plan, self._zookeeper.multi)
            logger.info("topic %s is created automatically", plan.name)
        except KafkaError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
            if await self._zookeeper.exists(paths.delete_topic(plan.name)) is not None:
                message = f"Topic '{plan.name}' is being deleted."
                raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, message) from None

    # -- delete --------------------------------------------------------------------------------

    async def delete(
        self, names: Sequence[str], *, timeout_ms: int
    ) -> dict[str, KafkaError | None]:
        """Deletes topics; the answer per name (None = done). Only on the controller."""
        unique = dict.fromkeys(names)
        try:
            present = await self._deletable(unique)
        except (KafkaError, *DISCONNECTED) as error:
            return dict.fromkeys(unique, as_kafka_error(error))
        results: dict[str, KafkaError | None] = {}

        def refuse(name: str) -> None:
            results[name] = _unknown(name)

        await in_turns(unique, refuse)
        results |= await gather_results(self._mark, {name: name for name in present})
        marked = [name for name in present if results[name] is None]

        def is_deleted(name: str) -> bool:
            service = self._service()
            return service is not None and service.is_deleted(name)

        for name in await self._all_done(marked, is_deleted, timeout_ms / 1000):
            results[name] = _timed_out(f"Topic '{name}' is marked, its deletion goes on.")
        return results

    def check_deletion(self) -> None:
        """Raises KafkaError: NOT_CONTROLLER, TOPIC_DELETION_DISABLED."""
        self._controller()
        if not self._settings.delete_topics:
            raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED, "delete.topic.enable is false.")

    async def _deletable(self, names: Collection[str]) -> list[str]:
        """Those of the topics that exist. Topics that are not in the image may be new: a few are
        looked up one by one, many with one read. Raises KafkaError."""
        self.check_deletion()
        present: set[str] = set()
        unheard: list[str] = []

        def sort(name: str) -> None:
            if name in self._image.topics:
                present.add(name)
            elif is_topic_name(name):
                unheard.append(name)

        await in_turns(names, sort)
        if len(unheard) > CONCURRENT_MAX:
            present.update(await self._zookeeper.children(paths.TOPICS))
        else:
            reads = (self._zookeeper.exists(paths.topic(name)) for name in unheard)
            found = zip(unheard, await asyncio.gather(*reads), strict=True)
            present.update(name for name, stat in found if stat is not None)
        return [name for name in names if name in present]

    async def _mark(self, name: str) -> None:
        service = self._controller()
        try:
            await service.fenced([Create(paths.delete_topic(name))])
        except MultiError as error:
            if not isinstance(error.cause, NodeExistsError):
                raise

    # -- grow ----------------------------------------------------------------------------------

    async def grow(
        self, requests: Sequence[NewPartitions], *, timeout_ms: int, validate_only: bool = False
    ) -> dict[str, KafkaError | None]:
        """Grows topics; the answer per name (None = done). Only on the controller."""
        twice = {name for name, n in Counter(g.topic for g in requests).items() if n > 1}

        async def one(new_partitions: NewPartitions) -> None:
            service = self._controller()
            _check_named_once(new_partitions.topic, twice)
            await self._grow_one(new_partitions, service, validate_only)

        results = await gather_results(one, {each.topic: each for each in requests})
        if not validate_only:
            partition_counts = {g.topic: g.total for g in requests if results[g.topic] is None}
            for name in await self._await_leaders_everywhere(partition_counts, timeout_ms / 1000):
                results[name] = _timed_out(f"Topic '{name}' has grown but is not ready yet.")
        return results

    async def _grow_one(
        self, new_partitions: NewPartitions, service: KafkaController, validate_only: bool
    ) -> None:
        if new_partitions.topic not in self._image.topics:
            raise _unknown(new_partitions.topic)
        node, version = await self._read_topic(new_partitions.topic)
        brokers = {broker_id: info.rack for broker_id, info in self._image.brokers.items()}
        grown = plan_new_partitions(new_partitions, node, brokers)
        if validate_only:
            return
        try:
            write = SetData(paths.topic(new_partitions.topic), zk_data.encode_topic(grown), version)
            await service.fenced([write])
        except MultiError as error:
            if isinstance(error.cause, BadVersionError):
                message = f"Topic '{new_partitions.topic}' was changed meanwhile, try again."
                raise KafkaError(ErrorCode.INVALID_PARTITIONS, message) from None
            raise
        service.topic_grown()

    async def _read_topic(self, name: str) -> tuple[zk_data.TopicNode, int]:
        node = await self._zookeeper.get(paths.topic(name))
        if node is None:
            raise _unknown(name)
        return zk_data.decode_topic(name, node[0]), node[1].version


def _unknown(name: str) -> KafkaError:
    return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name}' is unknown.")


def _timed_out(message: str) -> KafkaError:
    return KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)


def _check_named_once(name: str, twice: Container[str]) -> None:
    if name in twice:
        message = f"Topic '{name}' is named more than once in the request."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)

"""The controller at work (Kafka's KafkaController): one task that turns watches into decisions and
decisions into fenced writes.

States are written in multis of STATES_PER_MULTI and then announced with one entry of the feed per
ANNOUNCE_MAX states. After a lost connection the task reads everything anew, and
`PartitionStateMachine.load` finds what is wrong and what was not announced. A multi that fails is
tried state by state; a partition whose state another has written is read again. When the fence
fails, another is controller and the task ends.

Entries are numbered by the controller, not by ZooKeeper's sequence: a repeated write collides with
the first instead of doubling it.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid4

from kazoo.exceptions import NodeExistsError

from brokerd.cluster.controller.complete_delete_topic import complete_delete_topic
from brokerd.cluster.controller.controller_election import ControllerEpoch
from brokerd.cluster.controller.partition_state_machine import (
    PartitionStateMachine,
    state_operations,
)
from brokerd.cluster.controller.purge_obsolete_notifications import purge_applied, purge_old
from brokerd.cluster.zookeeper import bulk_reads, offline_replicas, partition_change_znodes, paths
from brokerd.cluster.zookeeper.bulk_reads import DELETION_BEGUN, ReadTopic
from brokerd.cluster.zookeeper.multi_operations import Check, Create, Delete, Operation, SetData
from brokerd.cluster.zookeeper.partition_change_znodes import ChangeEntry, encode_entry
from brokerd.cluster.zookeeper.zk_data import LoadedState, TopicNode, encode_feature, encode_topic
from brokerd.cluster.zookeeper.zookeeper_client import MultiError, ZooKeeper
from brokerd.event_loop_turns import in_turns
from brokerd.garbage_collection import keep_uncollected
from brokerd.replication.partition_state import PartitionState

logger = logging.getLogger(__name__)

STATES_PER_MULTI = 200
ANNOUNCE_MAX = 1_000
PURGE_INTERVAL_S = 60.0
RETRY_S = 1.0


class DeposedError(Exception):
    """Another controller was elected: the fence refused a write."""


class KafkaController:
    """Runs from a broker's election until it is cancelled or deposed. `on_progress` is called
    whenever a deletion was completed or a broker applied an entry. `delete_topics` is
    delete.topic.enable; `cleanly_stopped` are brokers whose last stop was clean."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        controller_epoch: ControllerEpoch,
        on_progress: Callable[[], None],
        delete_topics: bool = True,
        cleanly_stopped: Container[int] = (),
    ) -> None:
        self._cleanly_stopped = cleanly_stopped
        self._delete_topics = delete_topics
        self._zookeeper = zookeeper
        self._controller_epoch = controller_epoch
        self._on_progress = on_progress
        self._state_machine = PartitionStateMachine(controller_epoch.epoch, {})
        self._wake = asyncio.Event()
        self._due: set[str] = set()
        self._applied: dict[int, int] = {}
        self._last_number = -1
        self._brokers_watch = partial(self._flag, "brokers")
        self._topics_watch = partial(self._flag, "topics")
        self._markers_watch = partial(self._flag, "markers")
        self._applied_watch = partial(self._flag, "applied")
        self._log_dirs_watch = partial(self._flag, "log-dirs")

    # -- called by TopicAdmin and BrokerLifecycle ----------------------------------------------

    async def fenced(self, operations: Sequence[Operation]) -> None:
        """A multi under this controller's fence. Raises DeposedError, MultiError."""
        fence = Check(paths.CONTROLLER_EPOCH, self._controller_epoch.version)
        try:
            await self._zookeeper.multi([fence, *operations])
        except MultiError as error:
            if error.index == 0:
                raise DeposedError from None
            raise

    def topic_grown(self) -> None:
        """Tells that TopicAdmin changed the node of an existing topic (no watch sees that)."""
        self._flag("grown")

    def reconnected(self) -> None:
        """Tells that the connection was away: watches are lost, outcomes unknown."""
        self._flag("reload")

    def is_deleted(self, name: str) -> bool:
        """Whether the topic is gone (or was never seen), or only brokers that are away, or cannot
        serve it, may still have its logs."""
        return self._state_machine.is_gone(name, self._applied)

    def is_applied_everywhere(self) -> bool:
        """Whether every live broker has applied all that was announced, as of the last change of
        /brokerd/applied, after which `on_progress` wakes those who wait."""
        return self._applied_by_all() >= self._last_number

    def _applied_by_all(self) -> int:
        return min((self._applied.get(b, -1) for b in self._state_machine.brokers), default=-1)

    # -- the task ------------------------------------------------------------------------------

    def _flag(self, what: str) -> None:
        self._due.add(what)
        self._wake.set()

    async def run(self) -> None:
        """Loads, then follows. Returns when deposed. Raises DISCONNECTED errors: it is to be run
        anew when there is a connection."""
        self._flag("reload")
        try:
            while True:
                await self._follow()
        except DeposedError:
            logger.warning(
                "controller epoch %d is over: another was elected", self._controller_epoch.epoch
            )

    async def _load(self) -> None:
        started_s = time.monotonic()
        self._due.clear()
        with suppress(NodeExistsError):  # Kafka's controller writes it if it is the first
            await self._zookeeper.create(paths.FEATURE, encode_feature())
        brokers = await bulk_reads.live_brokers(self._zookeeper, self._brokers_watch)
        entries = await bulk_reads.numbered(self._zookeeper, paths.CHANGES)
        last = await self._zookeeper.get(entries[max(entries)]) if entries else None
        self._last_number = max(entries, default=-1)
        names = await self._zookeeper.children(paths.TOPICS, self._topics_watch)
        epochs = {broker_id: info.epoch for broker_id, info in brokers.items()}
        state_machine = PartitionStateMachine(
            self._controller_epoch.epoch, epochs, self._cleanly_stopped
        )
        state_machine.offline = await offline_replicas.read(self._zookeeper)
        topics: dict[str, TopicNode] = {}
        loaded: list[LoadedState] = []
        async for run in bulk_reads.topics(self._zookeeper, names):
            run = [await self._with_id(topic) for topic in run]
            topics.update({topic.name: topic.node for topic in run})
            loaded += await bulk_reads.states(self._zookeeper, run)
            keep_uncollected()
        marked = await self._marked()
        self._state_machine = state_machine
        last_entry_zxid = last[1].czxid if last else -1  # later states may not be announced yet
        await self._write(state_machine.load(topics, loaded, marked, last_entry_zxid))
        self._due |= {"brokers", "markers", "applied", "log-dirs", "purge"}
        self._wake.set()
        logger.info(
            "controller epoch %d has loaded %d brokers, %d topics, %d partitions in %.0f ms",
            self._controller_epoch.epoch, len(brokers), len(topics), len(loaded),
            (time.monotonic() - started_s) * 1000,
        )  # fmt: skip

    async def _follow(self) -> None:
        try:
            async with asyncio.timeout(PURGE_INTERVAL_S):
                await self._wake.wait()
        except TimeoutError:
            self._due.add("purge")
        self._wake.clear()
        due, self._due = self._due, set()
        try:
            await self._serve(due)
        except MultiError as error:
            logger.error("a write of the controller failed, reading all anew: %s", error)
            await asyncio.sleep(RETRY_S)
            self._flag("reload")

    async def _serve(self, due: set[str]) -> None:
        if "reload" in due:
            await self._load()
            return
        if "brokers" in due:
            await self._brokers_changed()
        if "log-dirs" in due:
            await self._log_dirs_failed()
        if due & {"topics", "grown"}:
            await self._topics_changed(grown="grown" in due)
        if due & {"topics", "markers"}:
            await self._take_markers()
            await self._announce_deletions()
        if due & {"applied", "brokers", "log-dirs"}:
            await self._read_applied()
            await self._finish_deletions()
            await purge_applied(self._zookeeper, self._applied_by_all())
        if "purge" in due:
            await purge_old(self._zookeeper, time.time_ns() // 1_000_000)

    async def _with_id(self, topic: ReadTopic) -> ReadTopic:
        """Gives a topic that a Kafka before 2.8 created its id now, as Kafka's controller does."""
        if topic.node.topic_id is not None:
            return topic
        node = replace(topic.node, topic_id=uuid4())
        write = SetData(paths.topic(topic.name), encode_topic(node), topic.version)
        await self.fenced([write])
        return topic._replace(node=node, version=topic.version + 1)

    # -- brokers and topics --------------------------------------------------------------------

    async def _brokers_changed(self) -> None:
        brokers = await bulk_reads.live_brokers(self._zookeeper, self._brokers_watch)
        epochs = {broker_id: info.epoch for broker_id, info in brokers.items()}
        if epochs == self._state_machine.brokers:
            return
        logger.info("live brokers are now %s", sorted(epochs))
        self._state_machine.offline = await offline_replicas.read(self._zookeeper)
        await self._write(self._state_machine.brokers_changed(epochs))

    async def _log_dirs_failed(self) -> None:
        """A broker says that there are replicas which it cannot serve, or can again."""
        events = await self._zookeeper.children(paths.LOG_DIR_EVENTS, self._log_dirs_watch)
        await self._write(
            self._state_machine.offline_changed(await offline_replicas.read(self._zookeeper))
        )
        for name in events:
            await self._zookeeper.delete(f"{paths.LOG_DIR_EVENTS}/{name}")

    async def _topics_changed(self, *, grown: bool) -> None:
        names = await self._zookeeper.children(paths.TOPICS, self._topics_watch)
        if not grown:
            names = [name for name in names if name not in self._state_machine.topics]
        async for run in bulk_reads.topics(self._zookeeper, names):
            changed: dict[str, TopicNode] = {}
            for topic in run:
                known = self._state_machine.topics.get(topic.name)
                if known is None or known.replicas != topic.node.replicas:
                    changed[topic.name] = (await self._with_id(topic)).node
            await self._write(self._state_machine.topics_changed(changed))

    # -- deletions -----------------------------------------------------------------------------

    async def _marked(self) -> list[str]:
        """The topics whose deletion goes on. Without delete.topic.enable, marks are removed, as by
        Kafka, unless another controller has begun with the deletion: logs are gone by now."""
        marked, begun = await bulk_reads.deletions(self._zookeeper, self._markers_watch)
        if self._delete_topics:
            return marked
        for name in sorted(set(marked) - set(begun)):
            logger.warning("topic %s is not deleted: delete.topic.enable is false", name)
            await self.fenced([Delete(paths.delete_topic(name))])
        return begun

    async def _take_markers(self) -> None:
        names = await self._marked()
        self._state_machine.deletions_asked(names)
        for name in names:
            is_unknown = name not in self._state_machine.topics
            if is_unknown and await self._zookeeper.exists(paths.topic(name)) is None:
                await self.fenced([Delete(paths.delete_topic(name))])

    async def _announce_deletions(self) -> None:
        topics = self._state_machine.deletions.to_announce()
        for start in range(0, len(topics), ANNOUNCE_MAX):
            part = topics[start : start + ANNOUNCE_MAX]
            await self._announce((), part)
            self._state_machine.deletions.announced(part, self._last_number)
            logger.info("deletion of %d topics is begun", len(part))

    async def _finish_deletions(self) -> None:
        for name in self._state_machine.deletions_due(self._applied):
            known = self._state_machine.written_partitions(name)
            await complete_delete_topic(self._zookeeper, self.fenced, name, known)
            self._state_machine.removed(name)
            logger.info("topic %s is deleted", name)
            self._on_progress()

    async def _read_applied(self) -> None:
        for broker_id in self._state_machine.brokers:
            self._applied[broker_id] = await bulk_reads.applied(
                self._zookeeper, broker_id, self._applied_watch
            )
        self._on_progress()

    # -- writing -------------------------------------------------------------------------------

    async def _write(self, wanted: Iterable[PartitionState | None]) -> None:
        """Writes what is not written yet and announces all of it, batch by batch."""
        states: list[PartitionState] = []

        def keep(state: PartitionState | None) -> None:
            if state is not None:
                states.append(state)

        await in_turns(wanted, keep)
        for part in partition_change_znodes.batches(states, ANNOUNCE_MAX):
            written: list[PartitionState] = []
            for start in range(0, len(part), STATES_PER_MULTI):
                written += await self._write_multi(part[start : start + STATES_PER_MULTI])
            if written:
                await self._announce(written, ())

    async def _write_multi(self, states: Sequence[PartitionState]) -> list[PartitionState]:
        """Writes these states; returns those that are in ZooKeeper afterwards."""
        missing = [state for state in states if not self._is_written(state)]
        try:
            await self._write_once(missing)
        except MultiError as error:
            logger.warning("writing %d states failed, one by one now: %s", len(missing), error)
        else:
            return list(states)
        present = [state for state in states if self._is_written(state)]
        for state in missing:
            try:
                await self._write_single(state)
                present.append(state)
            except MultiError:
                present += await self._written_by_another(state)
        return present

    def _is_written(self, state: PartitionState) -> bool:
        known = self._state_machine.states.get((state.topic, state.partition))
        return known is not None and known.version >= state.version

    async def _write_single(self, state: PartitionState) -> None:
        operations = state_operations([state], [state.topic])
        if state.version == 0:
            # A controller of Kafka's may have died between making this node and the state.
            await self._zookeeper.ensure(paths.partition(state.topic, state.partition))
            operations = operations[-1:]
        await self.fenced(operations)
        self._state_machine.note_written([state])

    async def _written_by_another(self, lost: PartitionState) -> list[PartitionState]:
        """Reads a partition whose state another wrote, and writes what is decided then; returns
        its state, if it has one. If that cannot be written either, everything is read again."""
        key = (lost.topic, lost.partition)
        node = self._state_machine.topics[lost.topic]
        read = await bulk_reads.states_of(self._zookeeper, [(lost.topic, node, lost.partition)])
        found = [loaded.state for loaded in read]
        what = f"was written by another: {found[0]}" if found else "has no state that can be read"
        logger.warning("%s-%d %s", *key, what)
        wanted = self._state_machine.reread(key, read[0] if read else None)
        if wanted is None:
            return found
        try:
            await self._write_single(wanted)
        except MultiError as error:
            logger.error("%s-%d is not written: %s", *key, error)
            await asyncio.sleep(RETRY_S)
            self._flag("reload")
            return found
        return [wanted]

    async def _write_once(self, states: Sequence[PartitionState]) -> None:
        if not states:
            return
        topics = {state.topic for state in states}
        present = [topic for topic in topics if self._state_machine.has_partitions_node(topic)]
        await self.fenced(state_operations(states, present))
        self._state_machine.note_written(states)

    async def _announce(
        self, states: Sequence[PartitionState], deleted: Sequence[tuple[str, UUID]]
    ) -> None:
        entry = ChangeEntry(
            number=self._last_number + 1, previous=self._last_number,
            controller_epoch=self._controller_epoch.epoch, states=tuple(states),
            deleted=tuple(deleted),
        )  # fmt: skip
        marks = [SetData(paths.delete_topic(name), DELETION_BEGUN) for name, _ in deleted]
        await self.fenced([Create(paths.change(entry.number), encode_entry(entry)), *marks])
        self._last_number = entry.number

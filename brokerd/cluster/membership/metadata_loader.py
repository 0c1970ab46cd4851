"""How a broker follows the cluster (as Kafka's MetadataLoader): it loads everything once, then
applies notifications in order.

    /brokers/ids        the live brokers              all are read when one comes, goes or changes
    /brokerd/changes    partition states, deletions   entry by entry; after a gap all is loaded
    /config/changes     which config changed          that config is read
    /brokerd/offline    replicas that are not served  all are read when a broker changes its own

Each entry that was applied is acknowledged in `/brokerd/applied/<id>`: the controller removes a
topic when every broker that had a replica has stopped it. After a load the newest entry at the
load's begin is acknowledged.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from kazoo.exceptions import NoNodeError

from brokerd.cluster.membership.startup_epoch_wait import StartupEpochWait, awaits_new_epoch
from brokerd.cluster.metadata_image import ImageDelta, MetadataImage, TopicInfo
from brokerd.cluster.zookeeper import bulk_reads, offline_replicas, paths
from brokerd.cluster.zookeeper.bulk_reads import ReadTopic
from brokerd.cluster.zookeeper.partition_change_znodes import ChangeEntry, decode_entry
from brokerd.cluster.zookeeper.zk_data import LoadedState, decode_config_change
from brokerd.cluster.zookeeper.zookeeper_client import ZooKeeper
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

NO_ENTRY = -1


class MetadataLoader:
    """Keeps an image current. `on_change` is awaited with every delta (it ends in
    MetadataPublisher.publish). `on_due(what)` is called when "brokers", "changes", "configs" or
    "offline-replicas" changed in ZooKeeper: then the owner, BrokerLifecycle, calls `read_brokers`,
    `apply_changes`, `read_configs` or `read_offline_replicas`."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        broker_id: int,
        image: MetadataImage,
        on_change: Callable[[ImageDelta], Awaitable[None]],
        on_due: Callable[[str], None],
        *,
        was_cleanly_stopped: bool = False,
    ) -> None:
        self._was_cleanly_stopped = was_cleanly_stopped
        self._zookeeper = zookeeper
        self._broker_id = broker_id
        self._image = image
        self.startup_wait = StartupEpochWait()
        self._on_change = on_change
        self._last_applied = NO_ENTRY
        self.config_number = NO_ENTRY
        self._brokers_watch = partial(on_due, "brokers")
        self._changes_watch = partial(on_due, "changes")
        self._configs_watch = partial(on_due, "configs")
        self._offline_watch = partial(on_due, "offline-replicas")

    async def load(self) -> None:
        """Reads all topics, states and configs, also those that are known; then acknowledges."""
        entries = await bulk_reads.numbered(self._zookeeper, paths.CHANGES, self._changes_watch)
        config_entries = await bulk_reads.numbered(
            self._zookeeper, paths.CONFIG_CHANGES, self._configs_watch
        )
        await self.read_broker_configs()  # topics without a setting of their own take these
        names = await self._zookeeper.children(paths.TOPICS)
        queued_for_deletion = set((await bulk_reads.deletions(self._zookeeper))[1])
        found: set[str] = set()
        awaited: set[TopicPartition] = set()
        wanted = [name for name in sorted(names) if name not in queued_for_deletion]
        async for part in bulk_reads.topics(self._zookeeper, wanted):
            infos = await self._read_infos(part, awaited)
            await self._notify(self._image.take_topics(infos))
            found.update(info.name for info in infos)
        self.startup_wait.replace(awaited)
        await self._notify(
            self._image.remove_topics(await self._deleted_topics(found, queued_for_deletion))
        )
        await self._report_queued_for_deletion(queued_for_deletion)
        self._last_applied = max(entries, default=NO_ENTRY)
        self.config_number = max(config_entries, default=NO_ENTRY)
        await self._acknowledge()

    async def _deleted_topics(
        self, found: set[str], queued_for_deletion: set[str]
    ) -> list[tuple[str, UUID]]:
        """The known topics that were deleted. A topic whose node exists but does not parse is not
        among them: a mistake in that node must not delete records."""
        unseen = [item for item in self._image.topics.items() if item[0] not in found]
        return [
            (name, info.topic_id)
            for name, info in unseen
            if name in queued_for_deletion
            or await self._zookeeper.exists(paths.topic(name)) is None
        ]

    async def _report_queued_for_deletion(self, queued_for_deletion: set[str]) -> None:
        """Reports the partitions of topics whose deletion has begun as deleted. The image never had
        them if this broker was down then; but their logs are still here."""
        async for part in bulk_reads.topics(self._zookeeper, sorted(queued_for_deletion)):
            deleted = [(topic.name, index) for topic in part for index in topic.node.replicas]
            await self._notify(ImageDelta(deleted=deleted))

    async def _read_infos(
        self, part: Sequence[ReadTopic], awaited: set[TopicPartition]
    ) -> list[TopicInfo]:
        configs = await bulk_reads.topic_configs(self._zookeeper, [topic.name for topic in part])
        infos = {
            topic.name: TopicInfo(
                name=topic.name,
                topic_id=topic.node.topic_id,
                config=configs[topic.name],
                zxid=topic.created_zxid,
            )
            for topic in part
            if topic.node.topic_id is not None
        }
        for loaded in await bulk_reads.states(self._zookeeper, part):
            # Only the entry of its creation says that a partition never had a record.
            state = replace(loaded.state, is_new=False)
            infos[state.topic].partitions[state.partition] = state
            if self._awaits_new_epoch(loaded):
                awaited.add((state.topic, state.partition))
        return list(infos.values())

    def _awaits_new_epoch(self, loaded: LoadedState) -> bool:
        me = self._image.brokers.get(self._broker_id)
        key = (loaded.state.topic, loaded.state.partition)
        is_served = key not in self._image.offline.get(self._broker_id, ())
        if me is None or not is_served:
            return False
        return awaits_new_epoch(
            loaded, self._broker_id, me.epoch, was_cleanly_stopped=self._was_cleanly_stopped
        )

    async def read_brokers(self) -> None:
        await self._notify(await self.take_brokers())

    async def take_brokers(self) -> ImageDelta:
        """Reads the live brokers into the image; the caller reports the change."""
        live = await bulk_reads.live_brokers(
            self._zookeeper, self._brokers_watch, self._brokers_watch
        )
        return self._image.replace_brokers(live)

    async def read_offline_replicas(self) -> None:
        """Of offline replicas no new leader epoch is awaited: the controller writes none."""
        found = await offline_replicas.read(self._zookeeper, self._offline_watch)
        self.startup_wait.no_longer_awaited(found.get(self._broker_id, ()))
        await self._notify(self._image.replace_offline(found))

    async def apply_changes(self) -> None:
        """Applies the entries that are new; loads everything where one is missing."""
        entries = await bulk_reads.numbered(self._zookeeper, paths.CHANGES, self._changes_watch)
        new = {number: path for number, path in entries.items() if number > self._last_applied}
        if max(entries, default=NO_ENTRY) < self._last_applied:
            await self._reload("the feed was begun anew")
            return
        nodes = await self._zookeeper.get_many(list(new.values()))
        for number, node in zip(new, nodes, strict=True):
            entry = node and bulk_reads.readable(decode_entry, node[0])
            if entry is None or entry.number != number or entry.previous != self._last_applied:
                await self._reload(f"entry {number} does not follow entry {self._last_applied}")
                return
            assert node is not None
            await self._apply(entry, node[1].czxid)
            self._last_applied = number
        if new:
            await self._acknowledge()

    async def _apply(self, entry: ChangeEntry, zxid: int) -> None:
        known = self._image.topics
        unknown = sorted(
            {
                state.topic
                for state in entry.states
                if state.topic not in known or known[state.topic].topic_id != state.topic_id
            }
        )
        configs = await bulk_reads.topic_configs(self._zookeeper, unknown)
        await self._notify(self._image.apply_states(entry.states, configs, zxid, entry.number))
        gone = self._image.remove_topics(entry.deleted)
        await self._notify(gone)
        self.startup_wait.states_written(entry.states, self._broker_id)
        self.startup_wait.no_longer_awaited(gone.deleted)

    async def _reload(self, reason: str) -> None:
        logger.warning("loading the whole cluster again: %s", reason)
        await self.load()

    async def read_configs(self) -> None:
        entries = await bulk_reads.numbered(
            self._zookeeper, paths.CONFIG_CHANGES, self._configs_watch
        )
        new = {number: path for number, path in entries.items() if number > self.config_number}
        nodes = await self._zookeeper.get_many(list(new.values()))
        if None in nodes:
            await self._reload("a config change was purged before it was read")
            return
        found = (node and bulk_reads.readable(decode_config_change, node[0]) for node in nodes)
        changed = {entity for entity in found if entity}
        for entity in sorted(changed):
            kind, _, name = entity.partition("/")
            if kind == "topics":
                configs = await bulk_reads.topic_configs(self._zookeeper, [name])
                await self._notify(self._image.replace_config(name, configs[name]))
            elif kind == "brokers":
                await self.read_broker_configs()
        self.config_number = max(new, default=self.config_number)

    async def read_broker_configs(self) -> None:
        """Reads this broker's dynamic config and the default of all."""
        known = self._image.broker_configs
        configs = await bulk_reads.broker_configs(self._zookeeper, self._broker_id, known)
        await self._notify(self._image.replace_broker_configs(configs))

    async def _acknowledge(self) -> None:
        path = paths.applied(self._broker_id)
        data = str(self._last_applied).encode()
        try:
            await self._zookeeper.set(path, data)
        except NoNodeError:
            await self._zookeeper.ensure(path)
            await self._zookeeper.set(path, data)

    async def _notify(self, delta: ImageDelta) -> None:
        if delta.is_empty:
            return
        try:
            await self._on_change(delta)
        except Exception:
            # An error of one partition must not keep the changes of all others from this broker.
            logger.exception("a change of the cluster could not be applied in full")

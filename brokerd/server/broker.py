"""A broker (Kafka's KafkaServer): its parts, put together, started in order and stopped in the
reverse order.

Start: bind the listeners, lock the log directories, connect to ZooKeeper, load the logs (recovery
goes by the settings of topics), join the cluster, wait until the controller has given the
partitions their new leader epochs, and only then take connections: a response from an empty image
would say that topics are gone, and an old epoch would have clients fenced.
Stop: take no more connections, let requests under way finish, leave the cluster, close the logs
cleanly.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from brokerd.clock import Clock, SystemClock
from brokerd.cluster.admin.producer_id_manager import ProducerIdManager
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.config.broker_config import BrokerConfig
from brokerd.garbage_collection import keep_uncollected
from brokerd.integer_ranges import INT32_MAX, INT64_MAX
from brokerd.log.cleaner.cleaner_config import cleaner_limits
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.dirs.log_dir import LogDirError
from brokerd.log.dirs.log_dirs import LogDirs
from brokerd.log.log_manager import LogManager
from brokerd.log.remove_expired_producers import ProducerExpiry
from brokerd.log.scheduled_tasks import FLUSH_LOOK_MS, TaskIntervals
from brokerd.metric_counters import BrokerMetrics, LoopTimes
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.security import admin_token, jaas
from brokerd.server import wiring
from brokerd.server.admin_http.event_ring import EventRing
from brokerd.server.admin_http.http_server import AdminServer
from brokerd.server.api.metadata_topic_cache import MetadataTopicCache
from brokerd.server.background.cleaner_workers import CleanerWorkers
from brokerd.server.background.disk_worker import DiskWorker
from brokerd.server.background.log_start_checkpoints import LogStartCheckpoints
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.background.scheduler import SECOND_MS, Scheduler, Task
from brokerd.server.broker_config_handler import BrokerConfigHandler, endpoints
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.metadata_publisher import MetadataPublisher
from brokerd.server.network.listener_sockets import BindError
from brokerd.server.network.socket_server import SocketServer
from brokerd.server.produce.append_queues import AppendQueues
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from brokerd.server.router import Router
from brokerd.server.topic_config_handler import TopicConfigHandler

logger = logging.getLogger(__name__)

FINISH_TIMEOUT_S = 2.0


class Broker:
    """One broker on the running event loop. `wiring` says which of its parts the handlers get."""

    logs: LogManager
    replicas: ReplicaManager
    cleaner: LogCleanerManager
    cluster: BrokerLifecycle
    groups: GroupCoordinatorService
    led: LedPartitions
    log_starts: LogStartCheckpoints
    metadata: MetadataTopicCache
    producer_expiry: ProducerExpiry
    producer_ids: ProducerIdManager
    publisher: MetadataPublisher

    def __init__(
        self,
        config: BrokerConfig,
        on_fatal: Callable[[Exception], None],
        clock: Clock | None = None,
        loop_times: LoopTimes | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.metrics = BrokerMetrics(loop_times)
        self.times = RequestTimes(self.metrics, config.brokerd_slow_request_ms / 1000)
        self.events = EventRing(self.clock.now_ms)
        self.purgatory = Purgatory(self.times)
        self.fetch_sessions = FetchSessionCache(
            config.max_incremental_fetch_session_cache_slots,
            lambda: 1 + secrets.randbelow(INT32_MAX),
            lambda: self.cluster.image.names_by_id,
        )
        self.socket_server = SocketServer(config)
        self.settings = BrokerConfigHandler(config, self.socket_server, self._reconfigure)
        self.pending_reads = PendingReads()
        self.appends = AppendQueues(self.clock, self.socket_server.buffers)
        self.started_at_ms = self.clock.now_ms()
        self.is_ready = False
        self.admin_port = 0
        self._on_fatal = on_fatal
        self._disk = DiskWorker(self.metrics.flushes_s)
        self._cleaner_workers = CleanerWorkers(config.log_cleaner_threads)
        self._router: Router | None = None
        self._admin: AdminServer | None = None
        self._scheduler: Scheduler | None = None

    # ---- life

    async def start(self) -> None:
        """Returns when the broker serves. Raises BindError, LogDirError, ClusterError, OSError."""
        await self.settings.try_listeners()
        await self._open_logs()
        self._make_parts()
        await self._start_admin()
        await self.cluster.start()
        self.settings.require_listeners()
        self.logs.join(self.cluster.image.cluster_id)
        self.logs.on_failing = self._plan_take_failed
        self._plan_take_failed()
        keep_uncollected()
        self._scheduler = Scheduler(self.clock, self._scheduled_tasks(), self.metrics.loop_lag_s)
        self._scheduler.start()
        await self.cluster.wait_for_startup_epochs()
        self._router = wiring.router(self)
        self.socket_server.accept(self._router)
        self.is_ready = True

    def _make_parts(self) -> None:
        config = self.settings.config
        self.log_starts = LogStartCheckpoints(self.logs)
        self.producer_expiry = ProducerExpiry(
            self.logs.all, config.producer_id_expiration_ms,
            config.producer_id_expiration_check_interval_ms,
        )  # fmt: skip
        self.replicas = ReplicaManager(
            self.logs, config.broker_id, self.clock,
            config.replica_high_watermark_checkpoint_interval_ms,
        )  # fmt: skip
        self.cleaner = LogCleanerManager(
            self.logs, self._cleaner_workers, self.clock.now_ms, config.log_cleaner_backoff_ms,
            cleaner_limits(config),
        )  # fmt: skip
        self.groups = GroupCoordinatorService(
            config, self.clock, self.replicas, self.cluster, self.purgatory.acks
        )
        self.led = LedPartitions(self.cluster.image, self.replicas, self.metrics)
        self.metadata = MetadataTopicCache(self.cluster.image)
        self.producer_ids = ProducerIdManager(self.cluster.next_producer_id_block)
        self.publisher = MetadataPublisher(
            self.cluster, self.settings, TopicConfigHandler(self.settings), self.replicas,
            self.groups, self.metadata, self.events, lambda: self.is_ready,
        )  # fmt: skip

    async def _open_logs(self) -> None:
        """Locks the log directories, connects, loads the logs; recovery goes by the topics'
        settings."""
        config = self.settings.config
        dirs = await asyncio.to_thread(LogDirs, list(config.log_dirs), config.broker_id)
        logs = LogManager(
            dirs,
            defaults=config.log_defaults,
            on_event=self.events.add,
            submit=self._disk.submit,
            times=TaskIntervals(
                retention_interval_ms=config.log_retention_check_interval_ms,
                checkpoint_interval_ms=config.log_flush_offset_checkpoint_interval_ms,
                log_start_interval_ms=config.log_flush_start_offset_checkpoint_interval_ms,
                flush_interval_ms=_flush_interval_ms(config),
                retains_compacted=config.log_cleaner_enable,
            ),
        )
        try:
            self.cluster = BrokerLifecycle(
                _cluster_settings(config, dirs),
                asyncio.get_running_loop(),
                lambda delta: self.publisher.publish(delta),  # which does not exist yet
                self._on_fatal,
            )
            await self.cluster.connect()
        except BaseException:
            dirs.unlock()
            raise
        await asyncio.to_thread(logs.load, self.clock.now_ms())
        self.logs = logs

    async def _start_admin(self) -> None:
        config = self.settings.config
        path = config.brokerd_admin_token_file or f"{self.logs.dirs.live[0].path}/admin.token"
        self._admin = AdminServer(wiring.admin_pages(self), admin_token.load_or_create(Path(path)))
        try:
            self.admin_port = await self._admin.start(config.brokerd_admin_port)
        except OSError as error:
            place = f"127.0.0.1, brokerd.admin.port={config.brokerd_admin_port}"
            raise BindError(f"cannot listen on {place}: {os.strerror(error.errno or 0)}") from error

    def _scheduled_tasks(self) -> list[tuple[Task, int]]:
        """The periodic tasks with their intervals in ms."""
        config, tasks = self.settings.config, self.logs.tasks
        checkpoints_ms = min(
            config.log_flush_offset_checkpoint_interval_ms,
            config.log_flush_start_offset_checkpoint_interval_ms,
        )
        compaction = [(self.cleaner.tick, SECOND_MS)] if config.log_cleaner_enable else []
        return [
            *compaction,
            (tasks.tick_retention, config.log_retention_check_interval_ms),
            (tasks.tick_checkpoints, checkpoints_ms),
            (tasks.tick_delete, SECOND_MS),
            (tasks.tick_flush, _flush_interval_ms(config)),
            (lambda _: self.metrics.loop.note(monotonic()), SECOND_MS),
            (self.producer_expiry.tick, config.producer_id_expiration_check_interval_ms),
            (self.replicas.tick, config.replica_high_watermark_checkpoint_interval_ms),
        ]

    async def stop(self) -> None:
        """Stops cleanly, also after a start that failed halfway."""
        self.is_ready = False
        self.socket_server.listeners.close()
        if self._scheduler is not None:
            self._scheduler.stop()
        if hasattr(self, "groups"):
            await self.groups.stop()
        if hasattr(self, "cluster"):
            await self.cluster.stop()
        if self._router is not None:
            await self._router.finish_tasks(FINISH_TIMEOUT_S)
        await self.appends.drain(FINISH_TIMEOUT_S)
        await self.pending_reads.stop()
        self.socket_server.close()
        await self.appends.close()
        if self._admin is not None:
            self._admin.close()
        await self._cleaner_workers.stop()
        await self._disk.drain()
        if hasattr(self, "logs"):
            if hasattr(self, "replicas"):
                self.replicas.checkpoint()
            self.logs.shutdown()
            await self._disk.drain()
        self._disk.close()

    # ---- what changes while it runs

    def _reconfigure(self, config: BrokerConfig) -> None:
        """Updates the parts that keep a copy of settings."""
        self.socket_server.reconfigure(config)
        self.producer_expiry.expiration_ms = config.producer_id_expiration_ms
        self._cleaner_workers.limit = config.log_cleaner_threads
        self.cleaner.backoff_ms = config.log_cleaner_backoff_ms
        self.cleaner.limits = cleaner_limits(config)

    def _plan_take_failed(self) -> None:
        asyncio.get_running_loop().call_soon(self._take_failed)

    def _take_failed(self) -> None:
        """Takes failed log directories offline; if none is left, the broker ends."""
        for failed in self.logs.take_failed():
            self.replicas.take_offline(failed.partitions, failed.reason)
        self.cluster.report_offline(self.replicas.offline)
        try:
            self.logs.dirs.require_one()
        except LogDirError as error:
            self._on_fatal(error)


def _flush_interval_ms(config: BrokerConfig) -> int:
    """How often to check for logs to be flushed: in Kafka never, unless it is set."""
    interval_ms = config.log_flush_scheduler_interval_ms
    return interval_ms if interval_ms < INT64_MAX else FLUSH_LOOK_MS


def _cluster_settings(config: BrokerConfig, dirs: LogDirs) -> ClusterSettings:
    return ClusterSettings(
        broker_id=config.broker_id,
        endpoints=endpoints(config),
        zookeeper_connect=config.zookeeper_connect,
        session_file=Path(dirs.live[0].path) / ".zookeeper-session",
        session_timeout_ms=config.zookeeper_session_timeout_ms,
        connect_timeout_ms=config.zookeeper_connection_timeout_ms,
        rack=config.broker_rack or None,
        default_partitions=config.num_partitions,
        default_replication_factor=config.default_replication_factor,
        offsets_partitions=config.offsets_topic_num_partitions,
        offsets_segment_bytes=config.offsets_topic_segment_bytes,
        delete_topics=config.delete_topic_enable,
        cluster_id=dirs.cluster_id,
        stopped_cleanly=dirs.were_clean,
        credentials=jaas.of_setting(config.brokerd_zookeeper_jaas_file),
        set_acl=config.zookeeper_set_acl,
    )

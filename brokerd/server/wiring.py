"""Makes the handlers, each with the parts of the broker that it needs.

A family of handlers is a frozen dataclass whose fields are the parts that it needs (decision 0015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.protocol.api_keys import ApiKey
from brokerd.server.admin_http.broker_metrics import BrokerFigures
from brokerd.server.admin_http.pages import AdminPages
from brokerd.server.admin_http.prometheus import PrometheusPage
from brokerd.server.api import security, transactions
from brokerd.server.api.api_versions import api_versions
from brokerd.server.api.cluster import ClusterHandlers
from brokerd.server.api.configs import ConfigHandlers
from brokerd.server.api.credentials import CredentialHandlers
from brokerd.server.api.delete_records import DeleteRecordsHandler
from brokerd.server.api.elect_leaders import ElectLeadersHandler
from brokerd.server.api.group_offsets import GroupOffsetHandlers
from brokerd.server.api.groups import GroupHandlers
from brokerd.server.api.list_offsets import ListOffsetsHandlers
from brokerd.server.api.metadata import MetadataHandlers
from brokerd.server.api.producers import ProducerHandlers
from brokerd.server.api.quotas import QuotaHandlers
from brokerd.server.api.reassignments import ReassignmentHandlers
from brokerd.server.api.topics import TopicHandlers
from brokerd.server.api.update_features import UpdateFeaturesHandler
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.produce.batcher import ProduceBatcher
from brokerd.server.router import Router

if TYPE_CHECKING:
    from brokerd.cluster.metadata_image import MetadataImage
    from brokerd.server.admin_http.http_server import Page
    from brokerd.server.broker import Broker
    from brokerd.server.coordinator_runtime.group_service import GroupService
    from brokerd.server.requests.context import Handler


def router(broker: Broker) -> Router:
    """The router: Produce and Fetch have their own handlers, all other APIs those of `handlers`."""
    config, led, purgatory = broker.settings.config, broker.led, broker.purgatory
    produces = ProduceBatcher(
        led, broker.appends, purgatory, broker.clock, config.brokerd_validate_records
    )
    fetches = FetchHandler(
        led, broker.fetch_sessions, broker.clock, broker.pending_reads, purgatory,
        config.fetch_max_bytes,
    )  # fmt: skip
    return Router(
        broker.times, produces, fetches, handlers(broker), broker.logs.disk_failed,
        config.socket_request_max_bytes,
    )  # fmt: skip


def handlers(broker: Broker) -> dict[int, Handler]:
    """The handler of each API except Produce and Fetch."""
    return {
        **group_handlers(broker.groups, broker.cluster.image),
        **_partition_handlers(broker),
        **_topic_handlers(broker),
        **_cluster_handlers(broker),
        **security.HANDLERS,
        **transactions.HANDLERS,
    }


def group_handlers(service: GroupService, image: MetadataImage) -> dict[int, Handler]:
    """APIs about groups and their offsets."""
    groups, offsets = GroupHandlers(service), GroupOffsetHandlers(service, image)
    return {
        ApiKey.DELETE_GROUPS: groups.delete_groups,
        ApiKey.DESCRIBE_GROUPS: groups.describe_groups,
        ApiKey.FIND_COORDINATOR: groups.find_coordinator,
        ApiKey.HEARTBEAT: groups.heartbeat,
        ApiKey.JOIN_GROUP: groups.join_group,
        ApiKey.LEAVE_GROUP: groups.leave_group,
        ApiKey.LIST_GROUPS: groups.list_groups,
        ApiKey.OFFSET_COMMIT: offsets.offset_commit,
        ApiKey.OFFSET_DELETE: offsets.offset_delete,
        ApiKey.OFFSET_FETCH: offsets.offset_fetch,
        ApiKey.SYNC_GROUP: groups.sync_group,
    }


def _partition_handlers(broker: Broker) -> dict[int, Handler]:
    """APIs about the log of a partition and its producers."""
    led, pending_reads = broker.led, broker.pending_reads
    offsets = ListOffsetsHandlers(led, broker.clock, pending_reads)
    producers = ProducerHandlers(led, pending_reads, broker.producer_ids)
    records = DeleteRecordsHandler(led, broker.log_starts, pending_reads)
    return {
        ApiKey.DELETE_RECORDS: records.delete_records,
        ApiKey.DESCRIBE_PRODUCERS: producers.describe_producers,
        ApiKey.INIT_PRODUCER_ID: producers.init_producer_id,
        ApiKey.LIST_OFFSETS: offsets.list_offsets,
        ApiKey.OFFSET_FOR_LEADER_EPOCH: offsets.offset_for_leader_epoch,
    }


def _topic_handlers(broker: Broker) -> dict[int, Handler]:
    """APIs about topics, replicas and leaders, and settings of topics and brokers."""
    cluster, settings = broker.cluster, broker.settings
    configs = ConfigHandlers(cluster.image, cluster.configs, settings)
    creates_topics = settings.config.auto_create_topics_enable
    metadata = MetadataHandlers(cluster, broker.metadata, creates_topics)
    reassignments, topics = ReassignmentHandlers(cluster), TopicHandlers(cluster, settings)
    return {
        ApiKey.ALTER_CONFIGS: configs.alter_configs,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: reassignments.alter_partition_reassignments,
        ApiKey.API_VERSIONS: api_versions,
        ApiKey.CREATE_PARTITIONS: topics.create_partitions,
        ApiKey.CREATE_TOPICS: topics.create_topics,
        ApiKey.DELETE_TOPICS: topics.delete_topics,
        ApiKey.DESCRIBE_CONFIGS: configs.describe_configs,
        ApiKey.ELECT_LEADERS: ElectLeadersHandler(cluster).elect_leaders,
        ApiKey.INCREMENTAL_ALTER_CONFIGS: configs.incremental_alter_configs,
        ApiKey.LIST_PARTITION_REASSIGNMENTS: reassignments.list_partition_reassignments,
        ApiKey.METADATA: metadata.metadata,
    }


def _cluster_handlers(broker: Broker) -> dict[int, Handler]:
    """APIs about brokers and their disks, quotas and credentials."""
    cluster = broker.cluster
    brokers = ClusterHandlers(cluster.image, broker.logs)
    credentials = CredentialHandlers(cluster)
    quotas = QuotaHandlers(cluster.configs, broker.network.host_lookups)
    return {
        ApiKey.ALTER_CLIENT_QUOTAS: quotas.alter_client_quotas,
        ApiKey.ALTER_REPLICA_LOG_DIRS: brokers.alter_replica_log_dirs,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: credentials.alter_user_scram_credentials,
        ApiKey.DESCRIBE_CLIENT_QUOTAS: quotas.describe_client_quotas,
        ApiKey.DESCRIBE_CLUSTER: brokers.describe_cluster,
        ApiKey.DESCRIBE_LOG_DIRS: brokers.describe_log_dirs,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: credentials.describe_user_scram_credentials,
        ApiKey.UPDATE_FEATURES: UpdateFeaturesHandler(cluster).update_features,
    }


def admin_pages(broker: Broker) -> dict[str, Page]:
    """The pages of the admin port by their paths."""
    cleaner, cluster, logs = broker.cleaner, broker.cluster, broker.logs
    network, pending_reads, replicas = broker.network, broker.pending_reads, broker.replicas
    started_at_ms = broker.started_at_ms

    def is_ready() -> bool:
        return broker.is_ready

    figures = BrokerFigures(
        broker.metrics, cluster, network, logs, cleaner, pending_reads, broker.purgatory,
        broker.fetch_sessions, broker.settings, broker.clock, started_at_ms, is_ready,
    )  # fmt: skip
    prometheus = PrometheusPage(figures, broker.groups, replicas)
    return AdminPages(
        prometheus, cluster, network, logs, cleaner, replicas, broker.events, started_at_ms,
        is_ready,
    ).table()  # fmt: skip

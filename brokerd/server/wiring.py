"""Makes the handlers, each with the parts of the broker that it needs.

A family of handlers is a frozen dataclass whose fields are the parts that it needs (decision 0015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.protocol.api_keys import ApiKey
from brokerd.server.admin_http.http_server import Page
from brokerd.server.admin_http.metrics.metrics_page import MetricsPage
from brokerd.server.admin_http.pages import AdminPages
from brokerd.server.admin_http.segment_pages import SegmentPages
from brokerd.server.api.api_versions import api_versions
from brokerd.server.api.client_quotas import QuotaHandlers
from brokerd.server.api.cluster import ClusterHandlers
from brokerd.server.api.configs import ConfigHandlers
from brokerd.server.api.delete_records import DeleteRecordsHandler
from brokerd.server.api.describe_log_dirs import LogDirHandlers
from brokerd.server.api.elect_leaders import ElectLeadersHandler
from brokerd.server.api.group_offsets import GroupOffsetHandlers
from brokerd.server.api.groups import GroupHandlers
from brokerd.server.api.list_offsets import ListOffsetsHandlers
from brokerd.server.api.metadata import MetadataHandlers
from brokerd.server.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from brokerd.server.api.producers import ProducerHandlers
from brokerd.server.api.reassignments import ReassignmentHandlers
from brokerd.server.api.sasl_and_acls import SecurityHandlers
from brokerd.server.api.topics import TopicHandlers
from brokerd.server.api.transactions import TransactionHandlers
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.requests.request_context import Handler
from brokerd.server.router import Router

if TYPE_CHECKING:
    from brokerd.server.broker import Broker


def router(broker: Broker) -> Router:
    """The router: Produce and Fetch have their own handlers, all other APIs those of `handlers`."""
    config, led, purgatory = broker.settings.config, broker.led, broker.purgatory
    produces = ProduceHandler(
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
    cluster, image, led = broker.cluster, broker.cluster.image, broker.led
    pending_reads, settings = broker.pending_reads, broker.settings
    creates_topics = settings.config.auto_create_topics_enable
    return {
        ApiKey.API_VERSIONS: api_versions,
        **group_handlers(broker.groups),
        **_by_name(
            ClusterHandlers(cluster),
            ConfigHandlers(image, cluster.configs, settings),
            DeleteRecordsHandler(led, broker.log_starts),
            ElectLeadersHandler(cluster),
            ListOffsetsHandlers(led, broker.clock, pending_reads),
            LogDirHandlers(broker.logs),
            MetadataHandlers(cluster, broker.metadata, creates_topics),
            OffsetForLeaderEpochHandler(led, pending_reads),
            ProducerHandlers(led, pending_reads, broker.producer_ids),
            QuotaHandlers(cluster.configs, broker.socket_server.host_lookups),
            ReassignmentHandlers(cluster),
            SecurityHandlers(cluster),
            TopicHandlers(cluster, settings),
            TransactionHandlers(),
        ),
    }


def group_handlers(service: GroupCoordinatorService) -> dict[int, Handler]:
    return _by_name(GroupHandlers(service), GroupOffsetHandlers(service))


def _by_name(*families: object) -> dict[int, Handler]:
    """The methods of these families that have the name of an API, by its key."""
    return {
        api: getattr(family, api.name.lower())
        for family in families
        for api in ApiKey
        if hasattr(family, api.name.lower())
    }


def admin_pages(broker: Broker) -> dict[str, Page]:
    cleaner, cluster, logs = broker.cleaner, broker.cluster, broker.logs
    socket_server, replicas = broker.socket_server, broker.replicas
    started_at_ms, is_ready = broker.started_at_ms, lambda: broker.is_ready
    metrics_page = MetricsPage(
        broker.metrics, cluster, socket_server, logs, cleaner, broker.pending_reads,
        broker.purgatory, broker.fetch_sessions, broker.settings, broker.clock, started_at_ms,
        is_ready, broker.groups, replicas,
    )  # fmt: skip
    return AdminPages(
        metrics_page, cluster, socket_server, logs, cleaner, replicas,
        SegmentPages(replicas, cleaner), broker.events, started_at_ms, is_ready,
    ).table()  # fmt: skip

"""Which parts of a broker its handlers get: the one place that knows all of both.

A family of handlers is a frozen dataclass whose fields are the parts that it needs (decision 0015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.server.admin_http.broker_metrics import BrokerFigures
from brokerd.server.admin_http.pages import AdminPages
from brokerd.server.admin_http.prometheus import PrometheusPage
from brokerd.server.api import security, transactions
from brokerd.server.api.cluster import ClusterHandlers
from brokerd.server.api.configs import ConfigHandlers
from brokerd.server.api.credentials import CredentialHandlers
from brokerd.server.api.delete_records import DeleteRecordsHandler
from brokerd.server.api.elect_leaders import ElectLeadersHandler
from brokerd.server.api.features import FeatureHandler
from brokerd.server.api.group_offsets import GroupOffsetHandlers
from brokerd.server.api.groups import GroupHandlers
from brokerd.server.api.list_offsets import ListOffsetsHandlers
from brokerd.server.api.metadata import MetadataHandlers
from brokerd.server.api.producers import ProducerHandlers
from brokerd.server.api.quotas import QuotaHandlers
from brokerd.server.api.reassignments import ReassignmentHandlers
from brokerd.server.api.topics import TopicHandlers
from brokerd.server.fetch.delayed_fetch import FetchHandler
from brokerd.server.produce.batcher import ProduceBatcher
from brokerd.server.router import Router

if TYPE_CHECKING:
    from brokerd.protocol.api_keys import ApiKey
    from brokerd.server.admin_http.http_server import Page
    from brokerd.server.broker import Broker
    from brokerd.server.requests.context import Handler


def router(broker: Broker) -> Router:
    """Produce and Fetch get their bytes directly, all other requests go by the table."""
    config = broker.settings.config
    produces = ProduceBatcher(
        broker.led, broker.appends, broker.purgatory, broker.clock, config.brokerd_validate_records
    )
    fetches = FetchHandler(
        led=broker.led,
        sessions=broker.fetch_sessions,
        clock=broker.clock,
        pending_reads=broker.pending_reads,
        purgatory=broker.purgatory,
        max_bytes=config.fetch_max_bytes,
    )
    return Router(
        broker.times, produces, fetches, handlers(broker), broker.logs.disk_failed,
        config.socket_request_max_bytes,
    )  # fmt: skip


def handlers(broker: Broker) -> dict[int, Handler]:
    """What serves each API but Produce and Fetch."""
    cluster, groups, led, reads = broker.cluster, broker.groups, broker.led, broker.pending_reads
    image, settings = cluster.image, broker.settings
    creates_topics = settings.config.auto_create_topics_enable
    return join_tables(
        ClusterHandlers(image, broker.logs).table(),
        ConfigHandlers(image, cluster.configs, settings).table(),
        CredentialHandlers(cluster).table(),
        DeleteRecordsHandler(led, broker.log_starts, reads).table(),
        ElectLeadersHandler(cluster).table(),
        FeatureHandler(cluster).table(),
        GroupOffsetHandlers(groups, image).table(),
        GroupHandlers(groups).table(),
        ListOffsetsHandlers(led, broker.clock, reads).table(),
        MetadataHandlers(cluster, broker.metadata, creates_topics).table(),
        ProducerHandlers(led, reads, broker.producer_ids).table(),
        QuotaHandlers(cluster.configs, broker.network.lookups).table(),
        ReassignmentHandlers(cluster).table(),
        TopicHandlers(cluster, settings).table(),
        security.HANDLERS,
        transactions.HANDLERS,
    )


def join_tables(*tables: dict[ApiKey, Handler]) -> dict[int, Handler]:
    """One table out of the families' tables; two handlers for one API are a mistake."""
    joined: dict[int, Handler] = {}
    for table in tables:
        for api_key, handler in table.items():
            if api_key in joined:
                raise ValueError(f"two handlers for {api_key.name}")
            joined[int(api_key)] = handler
    return joined


def admin_pages(broker: Broker) -> dict[str, Page]:
    """The pages of the admin port by their paths."""

    def is_ready() -> bool:
        return broker.is_ready

    figures = BrokerFigures(
        clock=broker.clock,
        cleaner=broker.cleaner,
        cluster=broker.cluster,
        fetch_sessions=broker.fetch_sessions,
        is_ready=is_ready,
        logs=broker.logs,
        metrics=broker.metrics,
        network=broker.network,
        pending_reads=broker.pending_reads,
        purgatory=broker.purgatory,
        settings=broker.settings,
        started_at_ms=broker.started_at_ms,
    )
    return AdminPages(
        broker_id=broker.settings.config.broker_id,
        cleaner=broker.cleaner,
        cluster=broker.cluster,
        event_ring=broker.events,
        is_ready=is_ready,
        logs=broker.logs,
        network=broker.network,
        pending_reads=broker.pending_reads,
        prometheus=PrometheusPage(
            cluster=broker.cluster,
            figures=figures,
            groups=broker.groups,
            metrics=broker.metrics,
            replicas=broker.replicas,
        ),
        replicas=broker.replicas,
        started_at_ms=broker.started_at_ms,
    ).table()

"""The entry point for all requests to a cluster: `for_cluster(cluster)` returns its clients.

A gateway is cheap to create: each client connects when it is first used. Close it, or use it in a
`with` statement, after changes or many reads.
"""

from types import TracebackType
from typing import Self

from django.utils.functional import cached_property

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.models import Cluster
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway import oauth
from monitoring.gateway.broker_configs import BrokerConfigs
from monitoring.gateway.broker_metrics import BrokerMetrics
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.errors import Refused
from monitoring.gateway.group_admin import GroupAdmin
from monitoring.gateway.log_directory.log_directories import LogDirectories
from monitoring.gateway.log_offsets import LogOffsets
from monitoring.gateway.producing import Producing
from monitoring.gateway.quota_requests import Quotas
from monitoring.gateway.reassignment_requests import Reassignments
from monitoring.gateway.record_pages import RecordPages
from monitoring.gateway.topic_admin import TopicAdmin
from monitoring.gateway.wire.sync_client import SyncClient


class Gateway:
    """The clients of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def _settings(self) -> ClientSettings:
        try:
            return self._cluster.kafka_client_settings()
        except SecretUnreadable as error:
            raise Refused(Reason("settings_unreadable", why=error.reason)) from error

    @cached_property
    def kafka_client_settings(self) -> ClientSettings:
        """Address, TLS and login of a client in another process, with an access token if one is
        needed. Raises Refused if a secret is unreadable."""
        return oauth.with_token(self._settings)

    @property
    def registry(self) -> RegistrySettings:
        """How the cluster's schema registry is reached. Raises Refused if it has none or a secret
        is unreadable."""
        try:
            settings = self._cluster.registry()
        except SecretUnreadable as error:
            raise Refused(Reason("settings_unreadable", why=error.reason)) from error
        if settings is None:
            raise Refused(Reason("registry_none"))
        return settings

    @cached_property
    def wire(self) -> SyncClient:
        """Metadata and offsets, with the project's own Kafka client."""
        return SyncClient(self._settings)

    @cached_property
    def topics(self) -> TopicAdmin:
        """Topics and configuration, with confluent-kafka."""
        return TopicAdmin(self.kafka_client_settings)

    @cached_property
    def broker_configs(self) -> BrokerConfigs:
        """Settings of brokers, with the project's own Kafka client."""
        return BrokerConfigs(self._settings)

    @cached_property
    def reassignments(self) -> Reassignments:
        """Replicas and leaders of partitions, with the project's own Kafka client."""
        return Reassignments(self._settings)

    @cached_property
    def quotas(self) -> Quotas:
        """Client quotas, with the project's own Kafka client."""
        return Quotas(self._settings)

    @cached_property
    def groups(self) -> GroupAdmin:
        """Consumer groups and their committed offsets, with confluent-kafka."""
        return GroupAdmin(self.kafka_client_settings, self.wire)

    @cached_property
    def log_offsets(self) -> LogOffsets:
        """The offsets of logs, with confluent-kafka."""
        return LogOffsets(self.kafka_client_settings)

    @cached_property
    def record_pages(self) -> RecordPages:
        """Records by partition and offset, with the project's own Kafka client."""
        return RecordPages(self._settings)

    @cached_property
    def producing(self) -> Producing:
        """Writes records, with confluent-kafka."""
        return Producing(self.kafka_client_settings)

    @cached_property
    def brokerd_admin(self) -> BrokerdAdmin:
        """brokerd's admin ports: segments, events, counters. Raises Refused if the token is
        unreadable."""
        try:
            return BrokerdAdmin(AdminUrls.of(self._cluster))
        except SecretUnreadable as error:
            raise Refused(Reason("settings_unreadable", why=error.reason)) from error

    @cached_property
    def log_directories(self) -> LogDirectories:
        """The brokers' log directories that this machine can read (AERIE_LOG_DIRS)."""
        return LogDirectories(self._cluster.slug, self.log_offsets, self.topics)

    @cached_property
    def broker_metrics(self) -> BrokerMetrics:
        """The metrics of brokers in Prometheus' text format."""
        return BrokerMetrics(self._cluster)

    def close(self) -> None:
        """Close all connections; the gateway can be used again afterwards."""
        if "brokerd_admin" in self.__dict__:
            self.brokerd_admin.close()
        clients = (
            "broker_configs", "broker_metrics", "brokerd_admin", "kafka_client_settings", "groups",
            "log_directories", "log_offsets", "producing", "quotas", "reassignments",
            "record_pages", "topics", "wire",
        )  # fmt: skip
        for client in ("_settings", *clients):
            self.__dict__.pop(client, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def for_cluster(cluster: Cluster) -> Gateway:
    """The gateway to `cluster`, which need not be saved."""
    return Gateway(cluster)

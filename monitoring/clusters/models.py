"""The model of a cluster."""

import re

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.metrics_columns import ClusterMetrics, check_admin_urls
from monitoring.clusters.schema_registry_columns import ClusterSchemaRegistry
from monitoring.clusters.security_columns import ClusterSecurity
from monitoring.encryption import EncryptedField, decrypt, encrypt
from monitoring.error_reason import Reason
from monitoring.translate_error_reason import translated

_ADDRESS = re.compile(r"^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})$")


class InvalidAddress(ValueError):
    """A part of the addresses is not host:port."""

    def __init__(self, part: str) -> None:
        self.reason = Reason("address_invalid", part=repr(part))
        super().__init__(self.reason)


def parse_addresses(text: str) -> list[tuple[str, int]]:
    """Parse `host:port,host:port` into pairs. Raises InvalidAddress with the invalid part."""
    addresses = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _ADDRESS.match(part)
        if match is None or not 0 < int(match[2]) < 65536:
            raise InvalidAddress(part)
        addresses.append((match[1].strip("[]"), int(match[2])))
    return addresses


def _check_bootstrap(text: str) -> None:
    try:
        if not parse_addresses(text):
            raise ValidationError(_("Name at least one broker as host:port."))
    except InvalidAddress as error:
        raise ValidationError(translated(error.reason)) from error


def _check_zookeeper(text: str) -> None:
    try:
        parse_addresses(text.partition("/")[0])
    except InvalidAddress as error:
        raise ValidationError(translated(error.reason)) from error


class Cluster(ClusterSecurity, ClusterMetrics, ClusterSchemaRegistry):
    """One Kafka-compatible cluster that is sampled and shown."""

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80)
    bootstrap_servers = models.CharField(max_length=1000, validators=[_check_bootstrap])
    # Empty = the cluster has no ZooKeeper.
    zookeeper_connect = models.CharField(
        max_length=1000, blank=True, default="", validators=[_check_zookeeper]
    )
    # Broker id → base URL of brokerd's admin port; empty for other brokers.
    admin_urls = models.JSONField(blank=True, default=dict, validators=[check_admin_urls])
    admin_token = EncryptedField()
    read_only = models.BooleanField(default=False)
    # Whether the console's own topics are on this cluster (console_topics.py).
    holds_own_topics = models.BooleanField(default=False, editable=False)
    # As its brokers last reported (kafka_cluster_id.py); empty = unknown.
    kafka_cluster_id = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    def set_admin_token(self, token: str) -> None:
        """Store the token of brokerd's admin port, encrypted; users can set it but not read it."""
        self.admin_token = encrypt(token)

    def kafka_client_settings(self) -> ClientSettings:
        """The settings of Kafka clients, secrets decrypted. Raises InvalidAddress or
        SecretUnreadable."""
        addresses = tuple(parse_addresses(self.bootstrap_servers))
        return ClientSettings(addresses, self.tls(), self.sasl())

    def decrypt_admin_token(self) -> str:
        """The decrypted token, for the gateway only. Raises SecretUnreadable."""
        return decrypt(self.admin_token)

"""The default of each broker setting, as text: of DescribeConfigs. Those of plain settings are in
`broker_config`, those that are defaults of topic settings in `log_config`; here are the others.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from brokerd.config.broker_config import DEFAULT_PROTOCOL_MAP, known_keys
from brokerd.config.log_config import WITHOUT_EFFECT
from brokerd.config.ssl_configs import KEYS as TLS_KEYS
from brokerd.config.ssl_configs import PROTOCOLS
from brokerd.config.value_parsers import comma_list, java_double

NAMES_MAX = 1024

FIXED: Mapping[str, str | None] = {
    "alter.config.policy.class.name": None,
    "authorizer.class.name": "",
    "client.quota.callback.class": None,
    "connections.max.reauth.ms": "0",
    "control.plane.listener.name": None,
    "controlled.shutdown.enable": "true",
    "create.topic.policy.class.name": None,
    "early.start.listeners": None,
    "eligible.leader.replicas.enable": "false",
    "group.coordinator.rebalance.protocols": "classic",
    "inter.broker.protocol.version": "3.9-IV0",
    "metric.reporters": "",
    "offsets.commit.required.acks": "-1",
    "offsets.topic.compression.codec": "0",
    "process.roles": "",
    "remote.log.storage.system.enable": "false",
    "replica.selector.class": None,
    "zookeeper.metadata.migration.enable": "false",
    "zookeeper.ssl.client.enable": "false",
    **{kept.broker_key: kept.default for kept in WITHOUT_EFFECT.values() if kept.broker_key},
}
"""Settings of Kafka 3.9 that have only one value here; None is returned as null. Tools read some of
them: from `inter.broker.protocol.version` they learn which requests they may send. A value that
somebody sets is stored and returned, and has no effect."""
DEFAULTS: Mapping[str, str | None] = {
    "advertised.listeners": None,
    "broker.rack": None,
    "brokerd.admin.token.file": None,
    "brokerd.zookeeper.jaas.file": None,
    "inter.broker.listener.name": None,
    "listener.security.protocol.map": DEFAULT_PROTOCOL_MAP,
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "log.dir": None,
    "log.flush.interval.ms": None,
    "log.retention.hours": "168",
    "log.retention.minutes": None,
    "log.retention.ms": None,
    "log.roll.hours": "168",
    "log.roll.jitter.hours": "0",
    "log.roll.jitter.ms": None,
    "log.roll.ms": None,
    "node.id": "-1",
    **dict.fromkeys(TLS_KEYS),
    "ssl.cipher.suites": "",
    "ssl.client.auth": "none",
    "ssl.enabled.protocols": ",".join(PROTOCOLS),
    "ssl.keystore.type": "JKS",
    "ssl.protocol": PROTOCOLS[-1],
    "ssl.truststore.type": "JKS",
    **FIXED,
}
"""Defaults that are not those of a field of BrokerConfig: None is answered as null."""


@lru_cache(NAMES_MAX)
def default_text(name: str) -> str | None:
    """The default of a broker setting, None where there is none."""
    if name in DEFAULTS:
        return DEFAULTS[name]
    default = known_keys().get(name)
    return None if default is None else _text(default)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return comma_list(value)
    return java_double(value) if isinstance(value, float) else str(value)

"""Broker settings of Kafka 3.9 that have only one value here, as DescribeConfigs returns them.

Tools read some of them: from `inter.broker.protocol.version` they learn which requests they may
send. A value that somebody sets is stored and returned, and has no effect.
"""

from collections.abc import Mapping
from typing import Final

from brokerd.config.topic_config_changes import WITHOUT_EFFECT

FIXED_DOCUMENTATION = "This broker has no other value; a change has no effect."

FIXED_SETTINGS: Final[Mapping[str, str | None]] = {
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
"""Name → value; None is returned as null."""

"""The settings of topics that this broker accepts, stores and returns, and does not act on."""

from collections.abc import Mapping
from typing import NamedTuple

from brokerd.config.value_parsers import ConfigType


class Kept(NamedTuple):
    """A setting of Kafka that this broker accepts, stores and returns, and that has no effect."""

    type: ConfigType
    pattern: str
    default: str = ""
    broker_key: str = ""
    """The broker setting that is its default, if there is one."""


_REPLICAS = r"\*|(\d+:\d+(,\d+:\d+)*)?"
_LOCAL = r"-[12]|\d{1,18}"
_OLD_VERSIONS = r"0\.8\.[0-2]|0\.9\.0|0\.10\.[0-2]|0\.11\.0"
_VERSIONS = r"1\.[01]|2\.[0-8]|3\.\d|4\.0"
WITHOUT_EFFECT: Mapping[str, Kept] = {
    "follower.replication.throttled.replicas": Kept(ConfigType.LIST, _REPLICAS),
    "leader.replication.throttled.replicas": Kept(ConfigType.LIST, _REPLICAS),
    "local.retention.bytes": Kept(ConfigType.LONG, _LOCAL, "-2", "log.local.retention.bytes"),
    "local.retention.ms": Kept(ConfigType.LONG, _LOCAL, "-2", "log.local.retention.ms"),
    "message.downconversion.enable": Kept(
        ConfigType.BOOLEAN, "true|false", "true", "log.message.downconversion.enable"
    ),
    "message.format.version": Kept(
        ConfigType.STRING, rf"({_OLD_VERSIONS}|{_VERSIONS})(\.\d+|-IV\d+)?", "3.0-IV1",
        "log.message.format.version",
    ),
    "remote.log.copy.disable": Kept(ConfigType.BOOLEAN, "false", "false"),
    "remote.log.delete.on.disable": Kept(ConfigType.BOOLEAN, "false", "false"),
    "remote.storage.enable": Kept(ConfigType.BOOLEAN, "false", "false"),
}  # fmt: skip
"""Records are always stored and served as v2, there is no tiered storage to turn on, and replicas
are not throttled yet."""

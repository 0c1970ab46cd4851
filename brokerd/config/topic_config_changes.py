"""The settings of topics: what is checked when they change, and the settings without effect. Values
are text, as in ZooKeeper and on the wire."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from brokerd.config.incremental_changes import ConfigChange, apply_operations
from brokerd.config.log_config import TOPIC_KEYS, effective_values
from brokerd.config.values import ConfigType
from brokerd.errors import ErrorCode, KafkaError


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
TEXT_MAX = 128 * 1024
"""Well below what a node of ZooKeeper holds, in which a character takes up to six bytes."""


def check_topic_config(config: Mapping[str, str], broker: Mapping[str, str] | None = None) -> None:
    """Raises INVALID_CONFIG for the first setting that is unknown or has a bad value, or that does
    not go with another, be it one of the broker's."""
    if sum(map(len, config.values())) > TEXT_MAX:
        message = f"The settings of a topic may have {TEXT_MAX} characters together"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    for name, text in config.items():
        if name in WITHOUT_EFFECT:
            _check_kept(name, text)
            continue
        key = TOPIC_KEYS.get(name)
        if key is None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
        try:
            key.parse(text)
        except ValueError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value: {error}") from None
    values = effective_values(broker or {}, config)
    lowest, highest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if int(lowest) > int(highest):
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"min.compaction.lag.ms ({lowest}) must not be above max.compaction.lag.ms ({highest})",
        )


def _check_kept(name: str, text: str) -> None:
    kept = WITHOUT_EFFECT[name]
    plain = text.strip().lower() if kept.type is ConfigType.BOOLEAN else text.replace(" ", "")
    if not re.fullmatch(kept.pattern, plain, re.ASCII):
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value {text} for configuration {name}")


def apply_changes(
    config: Mapping[str, str],
    changes: Sequence[ConfigChange],
    broker: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The config after all changes, checked. Raises KafkaError."""
    changed = apply_operations(config, changes, _list_default)
    check_topic_config(changed, broker)
    return changed


def _list_default(name: str) -> str | None:
    if name in WITHOUT_EFFECT:
        return "" if WITHOUT_EFFECT[name].type is ConfigType.LIST else None
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
    return key.default if key.type is ConfigType.LIST else None

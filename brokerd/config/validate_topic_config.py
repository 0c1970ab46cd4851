"""Checks the settings of a topic when it is created or they change (Kafka's LogConfig.validate).
Values are text, as in ZooKeeper and on the wire.
"""

import re
from collections.abc import Mapping, Sequence

from brokerd.config.log_config import TOPIC_KEYS, WITHOUT_EFFECT, effective_values
from brokerd.config.prepare_incremental_configs import ConfigChange, apply_operations
from brokerd.config.value_parsers import ConfigType
from brokerd.errors import ErrorCode, KafkaError

TEXT_MAX = 128 * 1024
"""Well below what a node of ZooKeeper holds, in which a character takes up to six bytes."""


def validate_topic_config(
    config: Mapping[str, str], broker: Mapping[str, str] | None = None
) -> None:
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
    validate_topic_config(changed, broker)
    return changed


def _list_default(name: str) -> str | None:
    if name in WITHOUT_EFFECT:
        return "" if WITHOUT_EFFECT[name].type is ConfigType.LIST else None
    key = TOPIC_KEYS.get(name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
    return key.default if key.type is ConfigType.LIST else None

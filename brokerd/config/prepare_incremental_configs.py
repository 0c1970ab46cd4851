"""The four operations of IncrementalAlterConfigs (KIP-339), for settings of every kind of resource,
as text (Kafka's ConfigAdminManager.prepareIncrementalConfigs). Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from brokerd.config.value_parsers import comma_list, words
from brokerd.errors import ErrorCode, KafkaError

ListDefault = Callable[[str], str | None]
"""What a list has where nobody has set it, in Kafka itself; None for what is no list."""


class ConfigOperation(IntEnum):
    """What IncrementalAlterConfigs does to one setting; numbers as on the wire."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """One change of one setting. DELETE takes no value."""

    name: str
    operation: ConfigOperation
    value: str | None = None


def apply_operations(
    config: Mapping[str, str], changes: Sequence[ConfigChange], list_default: ListDefault
) -> dict[str, str]:
    """The config after all changes; values are not checked. Raises KafkaError for a name that is
    given twice, a missing value, or words appended to a setting that is no list."""
    names = [change.name for change in changes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        message = f"Error due to duplicate config keys: {', '.join(twice)}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    changed = dict(config)
    for change in changes:
        _apply(changed, change, list_default)
    return changed


def _apply(config: dict[str, str], change: ConfigChange, list_default: ListDefault) -> None:
    name, value = change.name, change.value
    if change.operation is ConfigOperation.DELETE:
        config.pop(name, None)
        return
    if value is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
    if change.operation is ConfigOperation.SET:
        config[name] = value
        return
    default = list_default(name)
    if default is None:
        verb = change.operation.name.lower()
        message = f"Config value {verb} is not allowed for config key: {name}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    held, asked = words(config.get(name, default)), words(value)
    if change.operation is ConfigOperation.APPEND:
        config[name] = comma_list([*held, *(word for word in asked if word not in held)])
    else:
        config[name] = comma_list(word for word in held if word not in asked)

"""The levels of a broker's loggers as a resource of the config APIs (KIP-412): BROKER_LOGGER.

Names are those of Python's loggers, `root` above them; levels have log4j's names. A level holds
until the broker ends.
"""

import logging
from collections.abc import Collection, Sequence
from typing import Any

from brokerd.config.prepare_incremental_configs import ConfigChange, ConfigOperation
from brokerd.config.value_parsers import ConfigSource, ConfigType
from brokerd.errors import ErrorCode, KafkaError

ROOT = "root"
_LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


def logger_entries(wanted: Collection[str] | None) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "value": _level_name(_logger(name).getEffectiveLevel()),
            "read_only": False,
            "config_source": int(ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG),
            "is_sensitive": False,
            "synonyms": [],
            "config_type": int(ConfigType.UNKNOWN),
            "documentation": None,
        }
        for name in _names()
        if wanted is None or name in wanted
    ]


def change_levels(changes: Sequence[ConfigChange], *, validate_only: bool) -> None:
    """Sets and removes levels, all or none; what is set has a value. Raises KafkaError."""
    for change in changes:
        _check(change)
    if validate_only:
        return
    for change in changes:
        is_set = change.operation is ConfigOperation.SET
        _logger(change.name).setLevel(_LEVELS[str(change.value)] if is_set else logging.NOTSET)


def _check(change: ConfigChange) -> None:
    if change.operation in (ConfigOperation.APPEND, ConfigOperation.SUBTRACT):
        message = f"{change.operation.name} operation is not allowed for the BROKER_LOGGER resource"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    if change.name not in _names():
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.operation is ConfigOperation.DELETE:
        if change.name == ROOT:
            message = "Removing the log level of the root logger is not allowed"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        return
    if change.value not in _LEVELS:
        levels = ", ".join(sorted(_LEVELS))
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {change.name} to {change.value} as it is not a supported "
            f"log level. Valid log levels are {levels}",
        )


def _names() -> list[str]:
    there = logging.Logger.manager.loggerDict
    return [ROOT, *sorted(n for n, each in there.items() if isinstance(each, logging.Logger))]


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(level: int) -> str:
    """The lowest known level that is not below `level`."""
    return next((name for name, number in _LEVELS.items() if level <= number), "FATAL")

"""DescribeConfigs for topics, brokers and the levels of their loggers; for brokers and loggers also
IncrementalAlterConfigs v1.

librdkafka has neither documentation nor the cluster-wide dynamic defaults of brokers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.protocol import messages
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.response_limits import check_limit

DESCRIBE_KEY, WITH_SYNONYMS, WITH_DOCUMENTATION = 32, 1, 4  # versions
ALTER_KEY, ALTER_VERSION = 44, 1
TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8  # types of resources
_SET, _DELETE = 0, 1
_SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    6: "DYNAMIC_BROKER_LOGGER_CONFIG",
}
_TOPIC, _DEFAULT = 1, 5
_UNITS_MS = {".minutes": 60_000, ".hours": 3_600_000}


def describe_request(
    resource_type: int, name: str, keys: Sequence[str] | None, correlation_id: int
) -> bytes:
    """The settings `keys` of a topic or a broker, or the loggers of a broker; None = all.

    The `name` of a broker is its id, or "" for the cluster-wide dynamic defaults.
    """
    version = _version(resource_type)
    resource = {"resource_type": resource_type, "resource_name": name, "configuration_keys": keys}
    fields = {"resources": [resource], "include_synonyms": True}
    if version >= WITH_DOCUMENTATION:
        fields["include_documentation"] = True
    return messages.encode_request(DESCRIBE_KEY, version, fields, correlation_id, CLIENT_ID)


def decode_describe(resource_type: int, answer: bytes) -> tuple[int, str, list[ConfigValue]]:
    """(error code, message, settings sorted by name). Raises KafkaError or OverLimit."""
    found: Any = messages.decode_response(DESCRIBE_KEY, _version(resource_type), answer)
    [result] = found.results
    check_limit(len(result.configs), response_limits.CONFIGS_MAX, "too_many_things")
    values = [_value(entry) for entry in result.configs]
    values.sort(key=lambda value: value.name)
    return int(result.error_code), result.error_message or "", values


def _version(resource_type: int) -> int:
    """The console has documentation of its own for topics, and older brokers have version 1."""
    return WITH_SYNONYMS if resource_type == TOPIC else WITH_DOCUMENTATION


def alter_request(
    resource_type: int,
    name: str,
    configs: Mapping[str, str | None],
    validate_only: bool,
    correlation_id: int,
) -> bytes:
    """Set dynamic settings or levels; None = remove."""
    entries = [
        {
            "name": key,
            "config_operation": _DELETE if value is None else _SET,
            "value": value,
        }
        for key, value in configs.items()
    ]
    resource = {"resource_type": resource_type, "resource_name": name, "configs": entries}
    fields = {"resources": [resource], "validate_only": validate_only}
    return messages.encode_request(ALTER_KEY, ALTER_VERSION, fields, correlation_id, CLIENT_ID)


def decode_alter(answer: bytes) -> tuple[int, str]:
    """(error code, message). Raises KafkaError."""
    found: Any = messages.decode_response(ALTER_KEY, ALTER_VERSION, answer)
    [result] = found.responses
    return int(result.error_code), result.error_message or ""


def _value(entry: Any) -> ConfigValue:
    source = int(entry.config_source)
    below = [each for each in entry.synonyms if int(each.source) != _TOPIC]
    defaults = (each for each in below if int(each.source) == _DEFAULT)
    default = next((_in_unit_of(entry, each) for each in defaults), None)
    inherited = next((_in_unit_of(entry, each) for each in below), None)
    return ConfigValue(
        name=entry.name,
        value=None if entry.is_sensitive else entry.value,
        source=_SOURCES.get(source, "UNKNOWN_CONFIG"),
        is_default=source == _DEFAULT,
        is_sensitive=entry.is_sensitive,
        is_read_only=entry.read_only,
        default=entry.value if source == _DEFAULT and default is None else default,
        documentation=getattr(entry, "documentation", "") or "",
        inherited=None if entry.is_sensitive else inherited if source == _TOPIC else entry.value,
    )


def _in_unit_of(entry: Any, synonym: Any) -> str | None:
    return value_in_unit_of(entry.name, synonym.name, synonym.value)


def value_in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    """The value of `synonym` in the unit of the setting `name`: in milliseconds if that ends in
    `.ms`. -1 (no limit) is not converted.

    Kafka reports `log.retention.hours=168` as a synonym of `retention.ms`.
    """
    for suffix, unit_ms in _UNITS_MS.items():
        if name.endswith(".ms") and synonym.endswith(suffix) and value and value.isdecimal():
            return str(int(value) * unit_ms)
    return value

"""DescribeConfigs, IncrementalAlterConfigs, AlterConfigs: one answer per resource, whatever it is.

Topics are described and changed on any broker, a broker is described by itself. Every other kind of
resource is answered with INVALID_REQUEST for that resource alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from brokerd.cluster.names import check_topic_name
from brokerd.cluster.requests import ConfigChange, ConfigOperation
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext
from brokerd.server.handlers.config_entries import Entry, broker_entries, topic_entries

if TYPE_CHECKING:
    from brokerd.server.broker import Broker

TOPIC = 2
BROKER = 4
_OPERATIONS = {int(operation): operation for operation in ConfigOperation}


def describe_configs(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """The settings of each resource; synonyms and words only where they are asked for."""
    results = []
    for resource in request.resources:
        result: Fields = {
            "resource_type": resource.resource_type,
            "resource_name": resource.resource_name,
            "error_code": 0,
            "error_message": None,
            "configs": [],
        }
        try:
            result["configs"] = [_shown(e, request) for e in _describe(broker, resource)]
        except KafkaError as error:
            result.update(error_code=int(error.code), error_message=error.message)
        results.append(result)
    return {"results": results}


def _describe(broker: Broker, resource: Any) -> list[Entry]:
    wanted = resource.configuration_keys
    if resource.resource_type == TOPIC:
        check_topic_name(resource.resource_name)
        info = broker.cluster.image.topics.get(resource.resource_name)
        if info is None:
            message = f"Topic '{resource.resource_name}' is unknown."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        return topic_entries(info.config, broker.config.raw, wanted)
    if resource.resource_type == BROKER:
        if resource.resource_name == "":
            return []
        _check_broker(broker, resource.resource_name)
        return broker_entries(broker.config, wanted)
    raise _unsupported(resource.resource_type)


def _shown(entry: Entry, request: Any) -> Entry:
    if not request.include_synonyms:
        entry["synonyms"] = []
    if not getattr(request, "include_documentation", False):
        entry["documentation"] = None
    return entry


async def incremental_alter_configs(
    broker: Broker, context: RequestContext, request: Any
) -> Fields:
    """Each topic's changes, all of them or none."""

    async def alter(resource: Any) -> None:
        changes = [_change(config) for config in resource.configs]
        await broker.cluster.incremental_alter_configs(
            resource.resource_name, changes, validate_only=request.validate_only
        )

    return await _alter_each(broker, request, alter)


async def alter_configs(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Each topic's config as a whole; what is not named goes back to its default."""

    async def alter(resource: Any) -> None:
        missing = [config.name for config in resource.configs if config.value is None]
        if missing:
            message = f"Null value not supported for: {', '.join(missing)}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        await broker.cluster.replace_config(
            resource.resource_name,
            {config.name: config.value for config in resource.configs},
            validate_only=request.validate_only,
        )

    return await _alter_each(broker, request, alter)


async def _alter_each(
    broker: Broker, request: Any, alter: Callable[[Any], Awaitable[None]]
) -> Fields:
    counts = Counter((each.resource_type, each.resource_name) for each in request.resources)
    responses = []
    for resource in request.resources:
        error = None
        try:
            if counts[resource.resource_type, resource.resource_name] > 1:
                message = "Each resource must appear at most once in a request."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            _check_alterable(broker, resource)
            await alter(resource)
        except KafkaError as refused:
            error = refused
        responses.append(
            {
                "resource_type": resource.resource_type,
                "resource_name": resource.resource_name,
                "error_code": int(error.code) if error else 0,
                "error_message": error.message if error else None,
            }
        )
    return {"responses": responses}


def _check_alterable(broker: Broker, resource: Any) -> None:
    if resource.resource_type == TOPIC:
        check_topic_name(resource.resource_name)
    elif resource.resource_type == BROKER:
        if resource.resource_name != "":
            _check_broker(broker, resource.resource_name)
        names = ", ".join(sorted(config.name for config in resource.configs))
        message = f"Cannot update these configs dynamically: {names}. Change server.properties."
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    else:
        raise _unsupported(resource.resource_type)


def _change(config: Any) -> ConfigChange:
    operation = _OPERATIONS.get(config.config_operation)
    if operation is None:
        message = f"Unknown config operation {config.config_operation} for {config.name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)
    return ConfigChange(name=config.name, operation=operation, value=config.value)


def _check_broker(broker: Broker, name: str) -> None:
    own = broker.config.broker_id
    if name != str(own):
        message = f"Unexpected broker id, expected {own} or empty string, but received {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _unsupported(resource_type: int) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type {resource_type}.")


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.DESCRIBE_CONFIGS: describe_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
    ApiKey.ALTER_CONFIGS: alter_configs,
}

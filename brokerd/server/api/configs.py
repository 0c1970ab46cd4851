"""DescribeConfigs, IncrementalAlterConfigs, AlterConfigs: settings of topics, brokers and loggers.

Topics and the default of all brokers are described and changed on any broker, a broker and its
loggers by itself. Dynamic settings are kept in ZooKeeper as Kafka keeps them and hold at once.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from brokerd.cluster.admin.config_admin import ConfigAdmin, ConfigUpdate
from brokerd.cluster.metadata_image import MetadataImage, TopicInfo
from brokerd.cluster.topic_names import check_topic_name
from brokerd.config.all_dynamic_configs import known_setting
from brokerd.config.described_defaults import default_text
from brokerd.config.dynamic_broker_config import DEFAULT_NAME
from brokerd.config.prepare_incremental_configs import (
    ConfigChange,
    ConfigOperation,
    apply_operations,
)
from brokerd.config.validate_reconfiguration import validate_change
from brokerd.config.validate_topic_config import apply_changes, validate_topic_config
from brokerd.config.value_parsers import ConfigType
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import map_in_turns, map_in_turns_awaited
from brokerd.protocol.messages import item_encoder
from brokerd.server.api.config_helper import Entry, broker_entries, default_entries, topic_entries
from brokerd.server.api.loggers import change_levels, logger_entries
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.requests.request_context import Fields, RequestContext, error_part

TOPIC = 2
BROKER = 4
BROKER_LOGGER = 8
Held = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConfigHandlers:
    image: MetadataImage
    configs: ConfigAdmin
    settings: BrokerConfigHandler

    async def describe_configs(self, context: RequestContext, request: Any) -> Fields:
        """The settings of each resource, with synonyms and documentation if requested. A resource
        takes half a millisecond, so many are described, and encoded, in turns."""
        encode = item_encoder(context.api_key, context.api_version, ("results",))
        results = await map_in_turns(
            request.resources, lambda resource: encode(self._result(request, resource))
        )
        return {"results": results}

    def _result(self, request: Any, resource: Any) -> Fields:
        result: Fields = {
            "resource_type": resource.resource_type,
            "resource_name": resource.resource_name,
            "error_code": 0,
            "error_message": "",
            "configs": [],
        }
        try:
            result["configs"] = [_shown(e, request) for e in self._describe(resource)]
        except KafkaError as error:
            result |= error_part(error)
        return result

    def _describe(self, resource: Any) -> list[Entry]:
        kind, name, wanted = (
            resource.resource_type,
            resource.resource_name,
            resource.configuration_keys or None,  # none at all: every one
        )
        settings = self.settings.now
        if kind == TOPIC:
            check_topic_name(name)
            return topic_entries(self._topic(name).config, settings, wanted)
        if kind == BROKER:
            if name == "":
                return default_entries(settings, wanted)
            self._check_own(name, " or empty string")
            return broker_entries(settings, wanted)
        if kind == BROKER_LOGGER:
            self._check_own(name)
            return logger_entries(wanted)
        raise _unsupported(kind)

    def _topic(self, name: str) -> TopicInfo:
        info = self.image.topics.get(name)
        if info is None:
            message = f"Topic '{name}' is unknown."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        return info

    async def incremental_alter_configs(self, context: RequestContext, request: Any) -> Fields:
        """Each resource's changes, all of them or none."""

        async def alter(resource: Any) -> None:
            name = resource.resource_name
            changes = [_change(config) for config in resource.configs]
            if resource.resource_type == TOPIC:
                wanted = partial(apply_changes, changes=changes, broker=self.settings.config.raw)
                await self._write(request, f"topics/{name}", wanted)
            elif resource.resource_type == BROKER:
                wanted = partial(apply_operations, changes=changes, list_default=_list_default)
                await self._write_broker(request, resource, wanted)
            else:
                change_levels(changes, validate_only=request.validate_only)

        return await self._alter_each(request, alter)

    async def alter_configs(self, context: RequestContext, request: Any) -> Fields:

        async def alter(resource: Any) -> None:
            name = resource.resource_name
            if resource.resource_type == BROKER_LOGGER:
                raise _unsupported(BROKER_LOGGER)
            config = {config.name: config.value for config in resource.configs}
            if resource.resource_type == TOPIC:
                validate_topic_config(config, self.settings.config.raw)
                await self._write(request, f"topics/{name}", lambda _: config)
            else:
                await self._write_broker(request, resource, lambda _: config)

        return await self._alter_each(request, alter)

    async def _write_broker(
        self, request: Any, resource: Any, update: Callable[[Held], dict[str, str]]
    ) -> None:
        """Writes the config of this broker, or of the default of all."""
        name = str(self.settings.config.broker_id) if resource.resource_name else ""
        named = {each.name for each in resource.configs} if name else None

        async def wanted(held: Held) -> dict[str, str]:
            config = update(held)
            after = validate_change(self.settings.now, name, held, config)
            await self.settings.check_listeners(after, named, self.image)
            return config

        await self._write(request, f"brokers/{name or DEFAULT_NAME}", wanted)

    async def _write(self, request: Any, entity: str, update: ConfigUpdate) -> None:
        await self.configs.alter(entity, update, validate_only=request.validate_only)

    async def _alter_each(self, request: Any, alter: Callable[[Any], Awaitable[None]]) -> Fields:
        counts = Counter((each.resource_type, each.resource_name) for each in request.resources)

        async def answer(resource: Any) -> Fields:
            became = error_part()
            try:
                if counts[resource.resource_type, resource.resource_name] > 1:
                    twice = "Each resource must appear at most once in a request."
                    raise KafkaError(ErrorCode.INVALID_REQUEST, twice)
                _check_settings(resource.configs)
                self._check_alterable(resource)
                await alter(resource)
            except KafkaError as error:
                became = error_part(error)
            kind, name = resource.resource_type, resource.resource_name
            return {"resource_type": kind, "resource_name": name, **became}

        return {"responses": await map_in_turns_awaited(request.resources, answer)}

    def _check_alterable(self, resource: Any) -> None:
        kind, name = resource.resource_type, resource.resource_name
        if kind == TOPIC:
            if not name:
                message = "Default topic resources are not allowed."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message)
            self._topic(name)
        elif kind == BROKER:
            if name != "":
                self._check_own(name, " or empty string")
        elif kind == BROKER_LOGGER:
            self._check_own(name)
        else:
            raise _unsupported(kind)

    def _check_own(self, name: str, or_else: str = "") -> None:
        own = self.settings.config.broker_id
        if name != str(own):
            message = f"Unexpected broker id, expected {own}{or_else}, but received {name}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _shown(entry: Entry, request: Any) -> Entry:
    if not request.include_synonyms:
        entry["synonyms"] = []
    if not getattr(request, "include_documentation", False):
        entry["documentation"] = None
    return entry


def _list_default(name: str) -> str | None:
    known = known_setting(name)
    return default_text(name) or "" if known and known.type is ConfigType.LIST else None


def _check_settings(configs: Sequence[Any]) -> None:
    """Raises INVALID_REQUEST for a name that is given twice or a missing value."""
    if len({config.name for config in configs}) != len(configs):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    missing = [
        config.name
        for config in configs
        if config.value is None
        and getattr(config, "config_operation", None) != ConfigOperation.DELETE
    ]
    if missing:
        message = f"Null value not supported for : {', '.join(missing)}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _change(config: Any) -> ConfigChange:
    try:
        operation = ConfigOperation(config.config_operation)
    except ValueError:
        message = f"Unknown config operation {config.config_operation} for {config.name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message) from None
    return ConfigChange(name=config.name, operation=operation, value=config.value)


def _unsupported(resource_type: int) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type {resource_type}.")

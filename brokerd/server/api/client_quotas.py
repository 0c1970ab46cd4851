"""DescribeClientQuotas, AlterClientQuotas: quotas are stored and returned as by Kafka. No request
is throttled yet."""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from brokerd.cluster.admin.client_quota_znodes import (
    IP,
    Component,
    QuotaChange,
    changed_quotas,
    check_filter,
    entity_path,
    found_quotas,
)
from brokerd.cluster.admin.config_admin import ConfigAdmin
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import map_in_turns_awaited
from brokerd.server.requests.request_context import Fields, RequestContext, error_part

KINDS = ("users", "clients", "ips")


@dataclass(frozen=True, slots=True)
class QuotaHandlers:
    configs: ConfigAdmin
    host_lookups: Executor

    async def describe_client_quotas(self, context: RequestContext, request: Any) -> Fields:
        """The quotas in ZooKeeper that match the filter."""
        components = [
            Component(each.entity_type, each.match_type, each.match) for each in request.components
        ]
        try:
            check_filter(components)
            configs: dict[str, dict[str, str]] = {}
            for kind in KINDS:
                configs |= await self.configs.read_all(kind)
        except KafkaError as error:
            return {**error_part(error), "entries": None}
        entries = [
            {
                "entity": _entity(entity),
                "values": [{"key": key, "value": value} for key, value in quotas.items()],
            }
            for entity, quotas in found_quotas(configs, components, strict=request.strict)
        ]
        return {"error_code": 0, "error_message": "", "entries": entries}

    async def alter_client_quotas(self, context: RequestContext, request: Any) -> Fields:
        """Applies each entry's changes, all of them or none. An entity with several entries is
        changed by each, and answered once with the result of the last, as in Kafka."""

        async def alter(entry: Any) -> tuple[frozenset[tuple[str, str | None]], Fields]:
            entity = {part.entity_type: part.entity_name for part in entry.entity}
            became = error_part()
            try:
                await self._alter(entity, entry.ops, validate_only=request.validate_only)
            except KafkaError as error:
                became = error_part(error)
            return frozenset(entity.items()), {**became, "entity": _entity(entity)}

        outcomes = dict(await map_in_turns_awaited(request.entries, alter))
        return {"entries": list(outcomes.values())}

    async def _alter(self, entity: dict[str, str | None], ops: Any, *, validate_only: bool) -> None:
        path = entity_path(entity)
        if IP in entity:
            await self._check_address(entity[IP])
        changes = [QuotaChange(op.key, None if op.remove else op.value) for op in ops]
        wanted = partial(changed_quotas, path=path, changes=changes)
        await self.configs.alter(path, wanted, validate_only=validate_only)

    async def _check_address(self, name: str | None) -> None:
        """It must be an address or a name that can be resolved; None is the default of all."""
        if name is None:
            return
        try:
            ipaddress.ip_address(name)
        except ValueError:
            try:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self.host_lookups, socket.getaddrinfo, name, None)
            except (OSError, UnicodeError):
                message = f"{name} is not a valid IP or resolvable host."
                raise KafkaError(ErrorCode.INVALID_REQUEST, message) from None


def _entity(names: Mapping[str, str | None]) -> list[Fields]:
    return [{"entity_type": kind, "entity_name": name} for kind, name in names.items()]

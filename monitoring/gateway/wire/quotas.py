"""DescribeClientQuotas v1 and AlterClientQuotas v1.

An entity is one or two pairs of a type (user, client-id, ip) and a name. The name None is the
default, which holds for all names without a quota of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerd.protocol import messages
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.response_limits import check_limit, printable

DESCRIBE_KEY, DESCRIBE_VERSION = 48, 1
ALTER_KEY, ALTER_VERSION = 49, 1
NAMES = {DESCRIBE_KEY: "DescribeClientQuotas", ALTER_KEY: "AlterClientQuotas"}

Entity = tuple[tuple[str, str | None], ...]  # sorted


@dataclass(frozen=True, slots=True)
class Quota:
    """The quotas of an entity: key → value."""

    entity: Entity
    values: Mapping[str, float]


def describe_request(correlation_id: int) -> bytes:
    """All quotas."""
    fields = {"components": [], "strict": False}
    return messages.encode_request(
        DESCRIBE_KEY, DESCRIBE_VERSION, fields, correlation_id, CLIENT_ID
    )


def decode_describe(answer: bytes) -> tuple[int, str, list[Quota]]:
    """(error code, message, quotas). Raises KafkaError or OverLimit."""
    found: Any = messages.decode_response(DESCRIBE_KEY, DESCRIBE_VERSION, answer)
    entries = found.entries or ()
    check_limit(len(entries), response_limits.CONFIGS_MAX, "too_many_things")
    quotas = [
        Quota(
            tuple(sorted((part.entity_type, _name(part.entity_name)) for part in entry.entity)),
            {value.key: float(value.value) for value in entry.values},
        )
        for entry in entries
    ]
    return int(found.error_code), found.error_message or "", quotas


def alter_request(
    entity: Entity,
    values: Mapping[str, float | None],
    validate_only: bool,
    correlation_id: int,
) -> bytes:
    """Set quotas of an entity; None = remove."""
    entry = {
        "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity],
        "ops": [
            {"key": key, "value": value or 0.0, "remove": value is None}
            for key, value in values.items()
        ],
    }
    fields = {"entries": [entry], "validate_only": validate_only}
    return messages.encode_request(ALTER_KEY, ALTER_VERSION, fields, correlation_id, CLIENT_ID)


def decode_alter(answer: bytes) -> tuple[int, str]:
    """(error code, message). Raises KafkaError."""
    found: Any = messages.decode_response(ALTER_KEY, ALTER_VERSION, answer)
    [entry] = found.entries
    return int(entry.error_code), entry.error_message or ""


def _name(name: str | None) -> str | None:
    return None if name is None else printable(name, response_limits.TEXT_LENGTH_MAX)

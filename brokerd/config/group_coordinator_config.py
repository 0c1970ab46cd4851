"""The limits and periods of the group coordinator, under Kafka's names (`group.*`, `offsets.*`)."""

from dataclasses import dataclass

PENDING_MEMBERS_MAX = 10_000
"""Member ids handed out (KIP-394) and not yet used, per group: a bound Kafka does not have."""

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a new member may wait in its first join: it has no id to send heartbeats with, and a
client that gave up and retried would otherwise stay in the group for ever (Kafka's own figure)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCoordinatorConfig:
    """Defaults are Kafka's. `offset_metadata_length_max` counts units of UTF-16, as Java does."""

    initial_rebalance_delay_ms: int = 3_000
    session_timeout_ms_min: int = 6_000
    session_timeout_ms_max: int = 1_800_000
    size_max: int = (1 << 31) - 1
    offset_metadata_length_max: int = 4_096
    offsets_retention_ms: int = 7 * 24 * 3600 * 1000
    offsets_retention_check_ms: int = 600_000

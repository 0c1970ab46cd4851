"""What a search reads and matches, and its limits. Pure."""

from dataclasses import dataclass

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.records.filters import Condition

BYTES_MAX, SECONDS_MAX = 16 << 30, 300.0  # of a search
_MATCHED_BYTES_MAX = 32 << 20  # of all matches together


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search. `offset_ranges`: by partition. `masked` are targets of masking rules."""

    settings: ClientSettings
    topic: str
    offset_ranges: dict[int, range]
    conditions: tuple[Condition, ...] = ()
    expression: str = ""
    newest_first: bool = True
    matches_max: int = 500
    bytes_max: int = BYTES_MAX
    seconds_max: float = SECONDS_MAX
    masked: tuple[str, ...] = ()
    follows: bool = False
    follows_new_partitions: bool = True
    is_export: bool = False
    matched_bytes_max: int = _MATCHED_BYTES_MAX
    registry: RegistrySettings | None = None

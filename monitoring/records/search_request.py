"""What a search reads and matches. Pure."""

from dataclasses import dataclass

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.records import search_limits
from monitoring.records.filters import Condition


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search. `offset_ranges`: by partition. `masked` are targets of masking rules."""

    settings: ClientSettings
    topic: str
    offset_ranges: dict[int, range]
    conditions: tuple[Condition, ...] = ()
    expression: str = ""
    newest_first: bool = True
    matches_max: int = search_limits.MATCHES_MAX
    bytes_max: int = search_limits.BYTES_MAX
    seconds_max: float = search_limits.SECONDS_MAX
    masked: tuple[str, ...] = ()
    follows: bool = False
    follows_new_partitions: bool = True
    is_export: bool = False
    matched_bytes_max: int = search_limits.MATCHED_BYTES_MAX
    registry: RegistrySettings | None = None

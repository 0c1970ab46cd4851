"""What compaction counts and measures."""

from dataclasses import dataclass


@dataclass(slots=True)
class CleanerMetrics:
    """What was done since the start; of the last look, when it began and how dirty the dirtiest
    log was; of the last round, how long it took, how full its map was, how late it came."""

    rounds: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    damaged_batches: int = 0
    worker_deaths: int = 0
    looked_ms: int = 0
    dirtiest: float = 0.0
    round_ms: int = 0
    round_kept: float = 0.0
    round_map_used: float = 0.0
    round_late_ms: int = 0

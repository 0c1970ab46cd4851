"""What a search sends while it runs: matches, and its progress. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field

from monitoring.gateway.record_row import RecordRow

# Why a search ended.
COMPLETE, LIMIT, TIME, BYTES, ERROR = "complete", "limit", "time", "bytes", "error"


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """How far a search is. `offsets` are those passed, of `offsets_total`; `end` is set at last.

    `positions`: partition → the first offset that was not searched. `left_out`: matches that a
    search with `follows` found too fast to show.
    """

    scanned: int = 0
    matched: int = 0
    size_bytes: int = 0
    offsets: int = 0
    offsets_total: int = 0
    seconds: float = 0.0
    failures: int = 0
    first_failure: str = ""
    damaged: int = 0
    undecoded: int = 0  # records whose schema could not be read or does not fit
    first_undecoded: str = ""
    unread: dict[int, str] = field(default_factory=dict)  # partition → why
    positions: dict[int, int] = field(default_factory=dict)
    left_out: int = 0
    end: str = ""


Event = list[RecordRow] | SearchProgress
Send = Callable[[Event], None]

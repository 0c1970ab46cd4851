"""The limits of searches in records: how many run, what each reads and returns, how long it takes.

compaction_estimate.KEYS_MAX is one more limit of estimates. gateway/request_timeouts.py has the
time of each request.
"""

from dataclasses import dataclass

SEARCHES_MAX = 8  # of this process at the same time; exports and estimates are searches, too
BYTES_MAX, SECONDS_MAX = 16 << 30, 300.0  # of a search
MATCHES_MAX = 500
MATCHED_BYTES_MAX = 32 << 20  # of all matches together
FOLLOW_SECONDS_MAX = 3600.0  # of a search that follows
FOLLOWED_ROWS_MAX = 100  # of one read of a search that follows; a browser cannot show more


@dataclass(frozen=True, slots=True)
class ExportLimits:
    """The most that one export returns."""

    records: int
    size_bytes: int
    seconds: float


EXPORT = ExportLimits(records=1_000_000, size_bytes=1 << 30, seconds=900.0)

"""Notes for partitions whose lag is not a number ≥ 0. formula.py computes the lag.

Without a commit there is no lag: neither 0 nor the whole partition. If the end offset is unknown,
the lag is unknown. If the commit is beyond the end (the topic was created again, or its log was
cut), the lag is negative, as in Kafka's tools, and is shown unchanged. Sums count such partitions
separately (formula.py).
"""

from enum import StrEnum


class LagNote(StrEnum):
    """Why a lag is not a number ≥ 0."""

    PLAIN = ""
    NOT_COMMITTED = "not_committed"
    END_UNKNOWN = "end_unknown"
    AHEAD_OF_END = "ahead_of_end"

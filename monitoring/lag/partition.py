"""The lag of one partition, and what it means when there is no plain number.

    lag = end offset − committed offset

Nothing committed is *none*, not the whole partition and not 0. An end that is not known makes the
lag unknown. A commit beyond the end (the topic was created again, or its log was cut) gives a
negative number, as in Kafka's tools, that is shown as it is: hiding it would hide the fault. Sums
say it beside themselves (tables.py).
"""

from enum import StrEnum


class LagNote(StrEnum):
    """Why a lag is not a plain number ≥ 0."""

    PLAIN = ""
    NOT_COMMITTED = "not_committed"
    END_UNKNOWN = "end_unknown"
    AHEAD_OF_END = "ahead_of_end"

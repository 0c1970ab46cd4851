"""The brokers that left and came back, for the list of what changed. Pure.

They are found by comparing each tick with the previous one. They are in memory alone: after a
restart the web process knows those of the recent ticks that it reads first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.ticks.tick import Tick

RETENTION_MS = 24 * 3_600_000
CHANGES_MAX = 100


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """A broker left (`is_up` false), or is back."""

    at_ms: int
    broker: int
    is_up: bool


def changes_since(
    tick: Tick, previous: Tick | None, known: Sequence[BrokerChange]
) -> tuple[BrokerChange, ...]:
    """The known changes that are not too old, and those between two ticks; the newest last."""
    before = {row["id"]: row["up"] for row in previous.brokers} if previous else {}
    found = [
        BrokerChange(row.get("down_since_ms") or tick.at_ms, row["id"], row["up"])
        for row in tick.brokers
        if before.get(row["id"], row["up"]) != row["up"]
    ]
    kept = [each for each in known if each.at_ms >= tick.at_ms - RETENTION_MS]
    return (*kept, *found)[-CHANGES_MAX:]

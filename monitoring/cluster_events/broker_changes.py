"""The brokers that left or came back between two ticks. Pure."""

from dataclasses import dataclass

from monitoring.ticks.tick import Tick


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """A broker left (`is_up` false), or is back."""

    at_ms: int
    broker: int
    is_up: bool


def broker_changes(tick: Tick, previous: Tick) -> list[BrokerChange]:
    """The changes since the previous tick."""
    before = {row["id"]: row["up"] for row in previous.brokers}
    return [
        BrokerChange(row.get("down_since_ms") or tick.at_ms, row["id"], row["up"])
        for row in tick.brokers
        if before.get(row["id"], row["up"]) != row["up"]
    ]

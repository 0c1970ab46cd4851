"""The metrics of kafka.coordinator.group:type=GroupMetadataManager."""

from collections import Counter
from collections.abc import Iterator

from brokerd.server.admin_http.metrics.prometheus_text import singles
from brokerd.server.coordinator_runtime.group_runtime import GroupRuntime

_GROUP_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Empty", "Dead")


class GroupCounts:
    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.offsets = 0

    def take(self, runtime: GroupRuntime) -> None:
        states, offsets = runtime.coordinator.counts()
        self.states += states
        self.offsets += offsets


def group_metadata_manager_lines(groups: GroupCounts) -> Iterator[str]:
    yield from singles(
        "kafka_coordinator_group_groupmetadatamanager_",
        ("numgroups", "Groups coordinated here.", groups.states.total()),
        ("numoffsets", "Offsets kept for them.", groups.offsets),
        *(
            (f"numgroups{state.lower()}", f"Groups in the state {state}.", groups.states[state])
            for state in _GROUP_STATES
        ),
    )

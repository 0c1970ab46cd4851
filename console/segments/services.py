"""What a partition keeps on disk, asked of the broker that leads it.

The console shows segments of any cluster whose brokers name an admin address (brokerd's). Each
function raises GatewayError where that broker does not answer as asked.
"""

from dataclasses import dataclass
from typing import Any

from console.messages.masking import coarse
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.views.rows import PartitionRow

PAGE = 100
KINDS = ("offset", "time", "batches")


@dataclass(frozen=True, slots=True)
class Bar:
    """A segment along the partition's offsets, in hundredths of the drawn width."""

    base_offset: int
    x: float
    width: float
    active: bool


def segments(cluster: Cluster, row: PartitionRow) -> list[dict[str, Any]]:
    """The segments of a partition, oldest first, as brokerd's admin port tells them."""
    with for_cluster(cluster) as gateway:
        told = gateway.broker_admin.segments(row.leader, row.topic, row.partition)
    found: list[dict[str, Any]] = told["segments"]
    return found


def files(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a segment, the log first; an index with the number of its entries."""
    counts = {"index": segment["index_entries"], "timeindex": segment["time_index_entries"]}
    order = ["log", "index", "timeindex"]

    def place(file: dict[str, Any]) -> tuple[int, str]:
        suffix = file["name"].rpartition(".")[2]
        return (order.index(suffix) if suffix in order else len(order), file["name"])

    told = sorted(segment["files"], key=place)
    return [file | {"entries": counts.get(file["name"].rpartition(".")[2])} for file in told]


def entries(
    cluster: Cluster, row: PartitionRow, base_offset: int, kind: str, start: int
) -> dict[str, Any]:
    """One page of a segment: index entries from number `start`, or batches from that position."""
    where = (row.leader, row.topic, row.partition, base_offset)
    with for_cluster(cluster) as gateway:
        if kind == "batches":
            return gateway.broker_admin.batches(*where, start, PAGE)
        return gateway.broker_admin.index(*where, kind, start, PAGE)


def coarsened(segment: dict[str, Any]) -> dict[str, Any]:
    """A segment for those for whom a masking rule covers its records: they may be few."""
    files = [file | {"size_bytes": coarse(file["size_bytes"])} for file in segment["files"]]
    return segment | {"size_bytes": coarse(segment["size_bytes"]), "files": files}


def without_places(found: dict[str, Any]) -> dict[str, Any]:
    """A page of entries for them: where a batch begins tells how large the one before it is."""
    hidden = {"position_bytes": None}
    return found | {
        "entries": [each | hidden for each in found.get("entries", ())],
        "batches": [
            each | hidden | {"size_bytes": coarse(each["size_bytes"])}
            for each in found.get("batches", ())
        ],
    }


def bars(found: list[dict[str, Any]]) -> list[Bar]:
    """Each segment's place on the line of offsets, drawn to scale but never thinner than a hair."""
    if not found:
        return []
    first, last = found[0]["base_offset"], found[-1]["next_offset"]
    span = max(1, last - first)
    return [
        Bar(
            base_offset=s["base_offset"],
            x=round(100 * (s["base_offset"] - first) / span, 3),
            width=max(0.3, round(100 * (s["next_offset"] - s["base_offset"]) / span, 3)),
            active=s["active"],
        )
        for s in found
    ]

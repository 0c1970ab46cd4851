"""A tick: the sample of one cluster at one time (schema.py describes its content).

Pure data. `encode` and `decode` define its format in Redis.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from monitoring.error_reason import dumps, loads
from monitoring.ticks.schema import GROUPS, PARTITIONS

_VERSION = 1
_IPC = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One sample of one cluster, or a gap (then both tables are empty)."""

    cluster: str
    tick: int
    at_ms: int  # when the end offsets were read
    interval_ms: int
    status: Literal["ok", "gap"] = "ok"
    # A Reason; "" = none. Of a gap: why it is one; of an ok tick: what could not be read.
    reason: str = ""
    invalid: list[str] = field(default_factory=list)  # invalid values of the cluster
    took_ms: int = 0
    controller_id: int | None = None
    cluster_id: str = ""
    # False = a coordinator did not answer; groups that are missing here may still exist.
    groups_complete: bool = True
    zookeeper_up: bool | None = None  # None = the cluster has no ZooKeeper
    since: dict[str, int] = field(default_factory=dict)  # a current problem → when it began
    brokers: list[dict[str, Any]] = field(default_factory=list)
    partitions: pa.Table = field(default_factory=PARTITIONS.empty_table)
    groups: pa.Table = field(default_factory=GROUPS.empty_table)

    @property
    def start_ms(self) -> int:
        """The wall-clock time of the start of the tick's interval."""
        return self.tick * self.interval_ms

    @property
    def ok(self) -> bool:
        return self.status == "ok"


_META = (
    "cluster", "tick", "at_ms", "interval_ms", "status", "reason", "invalid", "took_ms",
    "controller_id", "cluster_id", "groups_complete", "zookeeper_up", "since", "brokers",
)  # fmt: skip


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_IPC) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def encode(tick: Tick) -> dict[str, bytes | int]:
    """The fields of the stream entry for `tick`."""
    meta = {"version": _VERSION} | {name: getattr(tick, name) for name in _META}
    meta |= {"reason": dumps(tick.reason), "invalid": list(map(dumps, tick.invalid))}
    return {
        "tick": tick.tick,
        "meta": json.dumps(meta, separators=(",", ":")).encode(),
        "partitions": _ipc(tick.partitions.cast(PARTITIONS)),
        "groups": _ipc(tick.groups.cast(GROUPS)),
    }


_SCHEMAS = {"partitions": PARTITIONS, "groups": GROUPS}


def decode(fields: Mapping[bytes, bytes]) -> Tick:
    """Parse the fields of `encode`. Raises ValueError for an unknown version."""
    meta = _meta(fields)
    meta["reason"] = loads(meta.get("reason", ""))
    # Older versions wrote `refused`; their ticks are read for 15 minutes after an update.
    meta["invalid"] = list(map(loads, meta.get("invalid", meta.get("refused", []))))
    return Tick(
        **{name: _table(fields[name.encode()], _SCHEMAS[name]) for name in _SCHEMAS},
        **{name: meta[name] for name in _META if name in meta},
    )


def _meta(fields: Mapping[bytes, bytes]) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads(fields[b"meta"])
    if meta.pop("version") != _VERSION:
        raise ValueError("a sample in Redis was written by another version of Aerie")
    return meta


def _table(data: bytes, schema: pa.Schema) -> pa.Table:
    """The table in `data`; missing columns (of older versions) are null."""
    stored = pa.ipc.open_stream(data).schema.names
    wanted = [number for number, name in enumerate(stored) if name in schema.names]
    options = pa.ipc.IpcReadOptions(included_fields=wanted)
    table = pa.ipc.open_stream(data, options=options).read_all()
    for name in schema.names:
        if name not in table.column_names:
            missing = pa.nulls(len(table), schema.field(name).type)
            table = table.append_column(name, missing)
    return table.select(schema.names)

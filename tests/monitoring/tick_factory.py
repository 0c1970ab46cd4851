"""Hand-made ticks for tests: a few lines say what matters, the rest is plausible."""

import pyarrow as pa

from monitoring.ticks.schema import GROUPS, PARTITIONS
from monitoring.ticks.tick import Tick

INTERVAL_MS = 5000


def partitions_table(tick: Tick | int, rows: list[dict], cluster: str = "local") -> pa.Table:
    """Rows of PARTITIONS; what a row does not name is null."""
    return _table(PARTITIONS, tick, rows, cluster)


def groups_table(tick: Tick | int, rows: list[dict], cluster: str = "local") -> pa.Table:
    """Rows of GROUPS; what a row does not name is null."""
    return _table(GROUPS, tick, rows, cluster)


def make_tick(
    number: int,
    *,
    cluster: str = "local",
    partitions: list[dict] | None = None,
    groups: list[dict] | None = None,
    interval_ms: int = INTERVAL_MS,
    **fields: object,
) -> Tick:
    """A tick whose tables are given as rows; times follow from its number."""
    return Tick(
        cluster=cluster,
        tick=number,
        at_ms=number * interval_ms + 40,
        interval_ms=interval_ms,
        partitions=partitions_table(number, partitions or [], cluster),
        groups=groups_table(number, groups or [], cluster),
        **fields,
    )


def _table(schema: pa.Schema, tick: Tick | int, rows: list[dict], cluster: str) -> pa.Table:
    number = tick if isinstance(tick, int) else tick.tick
    common = {"cluster": cluster, "tick": number, "at_ms": number * INTERVAL_MS + 40}
    return pa.Table.from_pylist([common | row for row in rows], schema=schema)

"""Stored results: one folder per report below `data/reports`.

    <uuid>/result.json          {"version": 1, "figures": {…}, "tables": {name: rows}}
    <uuid>/charts.json          chart descriptions by name (charts.py)
    <uuid>/<table>.parquet      each table as it was computed
    <uuid>/<table>.csv          the same for spreadsheets: moments as text, in UTC

A folder is written aside and renamed into place: it is there whole or not at all, and computing
a report once more replaces it.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from django.conf import settings

# What some spreadsheet runs: also with full-width and small signs, and behind what it cuts away.
_FORMULA = r"^[\t\r\n]|^[\p{Z}\p{C}]*[=+\-@＝＋－＠\x{2212}\x{FE62}\x{FE63}\x{FE66}\x{FE6B}]"
FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_VERSION = 1
_MOMENTS = {
    "at_ms": "at_utc",
    "bucket_ms": "bucket_start_utc",
    "first_at_ms": "first_at_utc",
    "last_at_ms": "last_at_utc",
    "messages_peak_at_ms": "messages_peak_at_utc",
    "lag_max_at_ms": "lag_max_at_utc",
}


class ResultGone(Exception):
    """The folder of a finished report is not there (any more), or is not readable."""


@dataclass(frozen=True, slots=True)
class Result:
    """A stored result; tables are read when asked for."""

    folder: Path
    figures: dict[str, Any]
    rows: dict[str, int]  # of each table
    charts: dict[str, Any]

    def table(self, name: str, limit: int) -> list[dict[str, Any]]:
        """The first `limit` rows of a table, in its own order."""
        stored: pa.Table = pq.read_table(self.folder / f"{name}.parquet")
        rows: list[dict[str, Any]] = stored.slice(0, limit).to_pylist()
        return rows

    def file(self, name: str, extension: str) -> Path:
        """The file of a table. Raises KeyError unless both are names that exist."""
        if name not in self.rows or extension not in FORMATS:
            raise KeyError(name)
        return self.folder / f"{name}.{extension}"


def root() -> Path:
    return Path(settings.AERIE_DATA) / "reports"


def write(
    report_id: uuid.UUID,
    tables: Mapping[str, pa.Table],
    figures: Mapping[str, Any],
    charts: Mapping[str, Any],
) -> str:
    """Stores a result, over an older one of the same report; returns the folder's name."""
    final = root() / str(report_id)
    draft = root() / f".{report_id}-{uuid.uuid4().hex}"
    draft.mkdir(parents=True)
    try:
        for name, table in tables.items():
            pq.write_table(table, draft / f"{name}.parquet")
            pyarrow.csv.write_csv(_for_spreadsheets(table), draft / f"{name}.csv")
        (draft / "charts.json").write_text(json.dumps(charts))
        rows = {name: table.num_rows for name, table in tables.items()}
        result = {"version": _VERSION, "figures": dict(figures), "tables": rows}
        (draft / "result.json").write_text(json.dumps(result))
        if final.exists():
            final.rename(draft.with_suffix(".old"))
        draft.rename(final)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(draft.with_suffix(".old"), ignore_errors=True)
    return final.name


def read(name: str) -> Result:
    """The result in the folder `name`. Raises ResultGone."""
    folder = root() / name
    try:
        result = json.loads((folder / "result.json").read_text())
        charts = json.loads((folder / "charts.json").read_text())
    except (OSError, ValueError) as error:
        raise ResultGone(str(error)) from error
    if not name or result.get("version") != _VERSION:
        raise ResultGone(f"{folder} was written by another version")
    return Result(folder=folder, figures=result["figures"], rows=result["tables"], charts=charts)


def remove(report_id: uuid.UUID) -> None:
    shutil.rmtree(root() / str(report_id), ignore_errors=True)


def names() -> list[uuid.UUID]:
    """The reports that have a folder."""
    return [name for path in _entries() if (name := _as_report(path.name))]


def remove_drafts(made_before_s: float) -> None:
    """Removes what workers that died were writing before that moment (seconds since 1970)."""
    for path in _entries():
        if path.name.startswith(".") and path.stat().st_mtime < made_before_s:
            shutil.rmtree(path, ignore_errors=True)


def _entries() -> list[Path]:
    return list(root().iterdir()) if root().is_dir() else []


def _as_report(name: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(name)
    except ValueError:
        return None


def _for_spreadsheets(table: pa.Table) -> pa.Table:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front.

    Whoever may name a consumer group could otherwise write `=HYPERLINK(…)` into an export.
    """
    columns, names = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in _MOMENTS:
            name, column = _MOMENTS[name], _utc(column)
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
            risky = pc.match_substring_regex(column, _FORMULA)
            column = pc.if_else(risky, pc.binary_join_element_wise("'", column, ""), column)
        columns.append(column)
        names.append(name)
    return pa.table(columns, names=names)


def _utc(at_ms: pa.ChunkedArray) -> pa.ChunkedArray:
    """Milliseconds as a spreadsheet reads a moment: 2026-01-31 23:59:59."""
    return pc.strftime(at_ms.cast(pa.timestamp("ms")).cast(pa.timestamp("s"), safe=False), "%F %T")

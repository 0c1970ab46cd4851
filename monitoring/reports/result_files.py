"""Stored results: one folder per report below `data/reports`.

    <uuid>/result.json          {"version": 1, "figures": {…}, "tables": {name: rows}}
    <uuid>/charts.json          chart descriptions by name (charts.py)
    <uuid>/<table>.parquet      each table
    <uuid>/<table>.csv          the same for spreadsheets: times as text, in UTC

A folder is written under a temporary name and renamed, so it is either complete or missing. If a
report is computed again, its folder is replaced.
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

from monitoring.spreadsheet_formulas import column_without_formulas

FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_VERSION = 1
_TIME_COLUMNS = {
    "at_ms": "at_utc",
    "bucket_ms": "bucket_start_utc",
    "first_at_ms": "first_at_utc",
    "last_at_ms": "last_at_utc",
    "messages_peak_at_ms": "messages_peak_at_utc",
    "lag_max_at_ms": "lag_max_at_utc",
}


class ResultMissing(Exception):
    """The folder of a finished report is missing or cannot be read."""


@dataclass(frozen=True, slots=True)
class Result:
    """A stored result; tables are read on demand."""

    folder: Path
    figures: dict[str, Any]
    rows: dict[str, int]  # of each table
    charts: dict[str, Any]

    def table(self, name: str, limit: int) -> list[dict[str, Any]]:
        """The first `limit` rows of a table, in the stored order."""
        stored: pa.Table = pq.read_table(self.folder / f"{name}.parquet")
        rows: list[dict[str, Any]] = stored.slice(0, limit).to_pylist()
        return rows

    def file(self, name: str, extension: str) -> Path:
        """The file of a table. Raises KeyError for an unknown table or extension."""
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
    """Store a result; replaces an older one of the same report. Returns the folder's name."""
    final = root() / str(report_id)
    temporary = root() / f".{report_id}-{uuid.uuid4().hex}"
    temporary.mkdir(parents=True)
    try:
        for name, table in tables.items():
            pq.write_table(table, temporary / f"{name}.parquet")
            pyarrow.csv.write_csv(_for_spreadsheets(table), temporary / f"{name}.csv")
        (temporary / "charts.json").write_text(json.dumps(charts))
        rows = {name: table.num_rows for name, table in tables.items()}
        result = {"version": _VERSION, "figures": dict(figures), "tables": rows}
        (temporary / "result.json").write_text(json.dumps(result))
        if final.exists():
            final.rename(temporary.with_suffix(".old"))
        temporary.rename(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(temporary.with_suffix(".old"), ignore_errors=True)
    return final.name


def read(name: str) -> Result:
    """The result in the folder `name`. Raises ResultMissing."""
    folder = root() / name
    try:
        result = json.loads((folder / "result.json").read_text())
        charts = json.loads((folder / "charts.json").read_text())
    except (OSError, ValueError) as error:
        raise ResultMissing(str(error)) from error
    if not name or result.get("version") != _VERSION:
        raise ResultMissing(f"{folder} was written by another version")
    return Result(folder=folder, figures=result["figures"], rows=result["tables"], charts=charts)


def remove(report_id: uuid.UUID) -> None:
    shutil.rmtree(root() / str(report_id), ignore_errors=True)


def stored_ids() -> list[uuid.UUID]:
    """The ids of the reports that have a folder."""
    return [found for path in _entries() if (found := _report_id(path.name))]


def remove_temporary_folders(made_before_s: float) -> None:
    """Remove temporary folders of dead workers, modified before this time (Unix seconds)."""
    for path in _entries():
        if path.name.startswith(".") and path.stat().st_mtime < made_before_s:
            shutil.rmtree(path, ignore_errors=True)


def _entries() -> list[Path]:
    return list(root().iterdir()) if root().is_dir() else []


def _report_id(name: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(name)
    except ValueError:
        return None


def _for_spreadsheets(table: pa.Table) -> pa.Table:
    """The table with times as text, and without formulas."""
    columns, names = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in _TIME_COLUMNS:
            name, column = _TIME_COLUMNS[name], _utc(column)
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column_without_formulas(column.cast(pa.string()))
        columns.append(column)
        names.append(name)
    return pa.table(columns, names=names)


def _utc(at_ms: pa.ChunkedArray) -> pa.ChunkedArray:
    """Milliseconds as text that spreadsheets recognise: 2026-01-31 23:59:59."""
    return pc.strftime(at_ms.cast(pa.timestamp("ms")).cast(pa.timestamp("s"), safe=False), "%F %T")

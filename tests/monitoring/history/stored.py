"""What the raw level of a history has, read without the product's readers."""

from typing import Any

from monitoring.history import manifest, parquet_files
from monitoring.history.levels import RAW
from monitoring.history.root_folder import current


def stored(table: str, slug: str = "local") -> list[dict[str, Any]]:
    """The rows of a table, in the order of time."""
    rows = [
        row
        for span_folder in manifest.span_folders(current(), slug, RAW)
        for part in parquet_files.files_of(current(), span_folder, table)
        for row in part.to_pylist()
    ]
    return sorted(rows, key=lambda row: row["at_ms"])


def stored_ticks(slug: str = "local") -> list[int]:
    return [row["tick"] for row in stored("ticks", slug)]

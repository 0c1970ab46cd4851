"""Reads the files of a span, one after the other."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from monitoring.history import manifest
from monitoring.history.levels import RAW
from monitoring.history.root_folder import Root, SpanFolder
from monitoring.history.table_specs import schema_of


def files_of(
    root: Root, span_folder: SpanFolder, table: str, *, newest_first: bool = False
) -> Iterator[pa.Table]:
    """The rows of each file of a table, oldest file first."""
    schema = schema_of(table, is_raw=span_folder.level is RAW)
    files = sorted(manifest.load(root, span_folder).of(table), key=lambda file: file.max_at_ms)
    for file in reversed(files) if newest_first else files:
        path = root.path(*span_folder.folder, file.name)
        yield read_file(root, path, schema)


def read_file(root: Root, path: str, schema: pa.Schema) -> pa.Table:
    """All rows of a file. Files that Spark wrote have plain texts where ours have
    dictionaries."""
    names = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    with errors_with_path(path), root.filesystem.open_input_file(path) as file:
        stored = pq.ParquetFile(file, read_dictionary=names)
        rows = stored.read(
            columns=[name for name in schema.names if name in stored.schema_arrow.names]
        )
    return with_schema(rows, schema)


@contextmanager
def errors_with_path(path: str) -> Iterator[None]:
    """Raise OSError with the file's path if it is there and cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowInvalid) as error:
        raise OSError(f"{path}: {error}") from error


def with_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`; those that files of older versions do not have are null."""
    for field in schema:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(len(rows), field.type))
    return rows.select(schema.names).cast(schema)

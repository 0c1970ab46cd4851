"""Reads the rows of one key (such as a topic and partition) from a Parquet file sorted by key.

Only the row groups that can have the key are read. What a file says about its row groups stays in
memory: to parse it takes as long as to read them. So do the rows that were read last: a page loads
its charts again every 15 s, and files do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monitoring.history.byte_limited_cache import ByteLimitedCache
from monitoring.history.parquet_files import errors_with_path, with_schema
from monitoring.history.root_folder import FileStamp, Root
from monitoring.history.table_specs import KEY_COLUMNS, RowKey

_Ranges = list[tuple[Any, Any] | None]  # least and greatest; None = the file does not say it

_METADATA_BYTES_MAX = 4 << 20  # as stored; in memory it is eight times as large
_ROWS_BYTES_MAX = 16 << 20
_TABLE_BYTES = 2048  # about what a table takes besides its values
_NO_CODE = -2  # of a name that a batch does not have; −1 stands for null


@dataclass(frozen=True, slots=True)
class _FileMetadata:
    """A file's metadata, and the range of each key column in each row group."""

    metadata: pq.FileMetaData
    ranges: dict[str, _Ranges]


_files: ByteLimitedCache[_FileMetadata] = ByteLimitedCache(_METADATA_BYTES_MAX)
_rows: ByteLimitedCache[pa.Table] = ByteLimitedCache(_ROWS_BYTES_MAX)


def read(root: Root, path: str, schema: pa.Schema, key: RowKey, columns: Sequence[str]) -> pa.Table:
    """These columns of the rows of the key, in the order of the file. `schema` is the table's."""
    stamp = root.stamp(path)

    def read_file() -> tuple[pa.Table, int]:
        rows = _read_file(root, stamp, schema, key, columns)
        return rows, rows.nbytes + _TABLE_BYTES

    return _rows.get((*stamp, *key.items(), *columns), read_file)


def _read_file(
    root: Root, stamp: FileStamp, schema: pa.Schema, key: RowKey, columns: Sequence[str]
) -> pa.Table:
    with errors_with_path(stamp[0]), root.filesystem.open_input_file(stamp[0]) as file:
        file_metadata = _files.get(stamp, lambda: _file_metadata(pq.read_metadata(file)))
        groups = _groups(file_metadata, key)
        wanted = pa.schema([schema.field(name) for name in columns])
        if not groups:
            return wanted.empty_table()
        names = [name for name in key if isinstance(key[name], str)]
        stored = pq.ParquetFile(file, metadata=file_metadata.metadata, read_dictionary=names)
        stored_columns = stored.schema_arrow.names
        read_columns = [
            name for name in {**key, **dict.fromkeys(columns)} if name in stored_columns
        ]
        rows = rows_of_key(stored.read_row_groups(groups, read_columns, use_threads=False), key)
    # Without combine_chunks a few rows would hold the memory of all that were read with them.
    return with_schema(rows, wanted).combine_chunks()


def rows_of_key(rows: pa.Table, key: RowKey) -> pa.Table:
    """The rows with this key."""
    batches = rows.to_batches()
    found = [batch.filter(mask) for batch in batches if (mask := _key_mask(batch, key)) is not None]
    return pa.Table.from_batches(found, rows.schema)


def _key_mask(batch: pa.RecordBatch, key: RowKey) -> pa.Array | None:
    """Which rows have the key; None = no row."""
    found = np.ones(len(batch), dtype=bool)
    for name, value in key.items():
        column = batch.column(name)
        if pa.types.is_dictionary(column.type):  # names are looked for in the dictionary
            code = pc.index(column.dictionary, pa.scalar(value, column.type.value_type)).as_py()
            found &= column.indices.fill_null(-1).to_numpy() == (code if code >= 0 else _NO_CODE)
        else:
            found &= pc.equal(column, value).fill_null(False).to_numpy(zero_copy_only=False)
        if not found.any():
            return None
    return pa.array(found)


def _file_metadata(metadata: pq.FileMetaData) -> tuple[_FileMetadata, int]:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    names = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    ranges = {
        name: [_range(group.column(number).statistics) for group in groups]
        for number, name in enumerate(names)
        if name in KEY_COLUMNS
    }
    return _FileMetadata(metadata, ranges), metadata.serialized_size


def _range(statistics: pq.Statistics | None) -> tuple[Any, Any] | None:
    if statistics is None or not statistics.has_min_max:
        return None
    return statistics.min, statistics.max


def _groups(file_metadata: _FileMetadata, key: RowKey) -> list[int]:
    """The row groups that can have the key."""
    found = list(range(file_metadata.metadata.num_row_groups))
    for name, value in key.items():
        ranges = file_metadata.ranges[name]
        found = [n for n in found if (each := ranges[n]) is None or each[0] <= value <= each[1]]
    return found

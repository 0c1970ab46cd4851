"""The folder of one job: Spark writes there, and the finished files are moved to their span.

    cluster=<slug>/_jobs/<uuid>/<level>-<table>/part-….parquet

No reader looks there. A file gets its final name only when all files of the job are complete; then
the manifest of the span is replaced once. So a job that is killed at any moment changes nothing.
Final names have a unique part: no file is ever overwritten. What a killed job left is deleted after
a while (monitoring/history/delete_files_not_in_manifest.py).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monitoring.history import manifest
from monitoring.history.levels import RAW
from monitoring.history.manifest import HistoryFile, Manifest
from monitoring.history.parquet_files import with_schema
from monitoring.history.root_folder import Root, SpanFolder, cluster_folder
from monitoring.history.table_specs import schema_of

JOBS = "_jobs"


@dataclass(frozen=True, slots=True)
class FinishedFile:
    """A complete file of a job: its path in the root, and its manifest entry."""

    path: tuple[str, ...]
    file: HistoryFile


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of one job of a cluster."""

    root: Root
    slug: str
    job: str

    @property
    def folder(self) -> tuple[str, ...]:
        return cluster_folder(self.slug), JOBS, self.job

    def output(self, name: str) -> str:
        """The location of a folder for Spark; it must not exist."""
        return self.root.location(*self.folder, name)

    def spark_files(self, name: str, table: str, time_name: str) -> list[FinishedFile]:
        """The files that Spark wrote to `output(name)`, without those that have no rows.

        `time_name`: the time in their final names, as `Level.span_of` writes it.
        """
        folder = (*self.folder, name)
        entries = self.root.entries(*folder)
        names = sorted(e.base_name for e in entries if e.base_name.endswith(".parquet"))
        if not names:
            raise ValueError(f"Spark wrote no file for {name}")
        finished = (self._finished((*folder, each), table, time_name) for each in names)
        return [each for each in finished if each]

    def ticks_file(self, rows: pa.Table, table: str, time_name: str) -> FinishedFile | None:
        """The table of ticks as a file; None = no rows. It is small: pyarrow writes it."""
        path = (*self.folder, f"{table}-{uuid.uuid4().hex}.parquet")
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, compression="zstd")
        self.root.write(memoryview(sink.getvalue()), *path)
        return self._finished(path, table, time_name)

    def copy_without(
        self, span_folder: SpanFolder, file: HistoryFile, from_ms: int, to_ms: int
    ) -> FinishedFile | None:
        """A copy of a file without its rows in `[from_ms, to_ms)`; None = no row is left."""
        path = (*self.folder, f"{file.table}-{uuid.uuid4().hex}.parquet")
        schema = schema_of(file.table, is_raw=span_folder.level is RAW)
        # Names as plain strings, as in the files that Spark writes.
        plain = pa.schema(
            [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema]
        )
        outside = (pc.field("at_ms") < from_ms) | (pc.field("at_ms") >= to_ms)
        filesystem = self.root.filesystem
        filesystem.create_dir(self.root.path(*self.folder))
        with (
            filesystem.open_input_file(self.root.path(*span_folder.folder, file.name)) as source,
            filesystem.open_output_stream(self.root.path(*path)) as target,
            pq.ParquetWriter(target, plain, compression="zstd") as writer,
        ):
            for batch in pq.ParquetFile(source).iter_batches():
                kept = with_schema(pa.table(batch).filter(outside), plain)
                if len(kept):
                    writer.write_table(kept)
        return self._finished(path, file.table, span_folder.span)

    def publish(
        self,
        span_folder: SpanFolder,
        before: Manifest,
        removed: Sequence[HistoryFile],
        added: Sequence[FinishedFile],
    ) -> None:
        """Move the files to the span, then replace its manifest `before` once.

        Raises FileExistsError if another worker has replaced `before` already.
        """
        for finished in added:
            self.root.move(finished.path, (*span_folder.folder, finished.file.name))
        if added:
            self.root.sync_folder(*span_folder.folder)
        names = {file.name for file in removed}
        kept = [file for file in before.files if file.name not in names]
        manifest.replace(self.root, span_folder, before, kept + [each.file for each in added])
        self.root.sync_folder(*span_folder.folder)

    def _finished(self, path: tuple[str, ...], table: str, time_name: str) -> FinishedFile | None:
        location = self.root.path(*path)
        with self.root.filesystem.open_input_file(location) as stored:
            found = pq.ParquetFile(stored).metadata
            times = _times(found)
            size = stored.size()
        if times is None:
            return None
        file = HistoryFile(
            name=f"{table}-{time_name}-{uuid.uuid4().hex}.parquet",
            table=table,
            rows=found.num_rows,
            min_at_ms=times[0],
            max_at_ms=times[1],
            bytes=size,
        )
        return FinishedFile(path, file)


def _times(found: pq.FileMetaData) -> tuple[int, int] | None:
    """The first and last `at_ms`, from the statistics of the row groups."""
    column = found.schema.names.index("at_ms")
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    parts = [group.column(column).statistics for group in groups if group.num_rows]
    if not parts:
        return None
    return min(part.min for part in parts), max(part.max for part in parts)


@contextmanager
def opened(root: Root, slug: str) -> Iterator[Workspace]:
    """A new workspace; its folder is deleted at the end."""
    space = Workspace(root, slug, uuid.uuid4().hex)
    try:
        yield space
    finally:
        delete(root, slug, space.job)


def delete(root: Root, slug: str, job: str) -> None:
    try:
        root.delete_folder(cluster_folder(slug), JOBS, job)
    except FileNotFoundError:
        pass

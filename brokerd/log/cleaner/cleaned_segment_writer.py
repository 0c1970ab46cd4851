"""Writes a cleaned segment: data, both indexes and, if necessary, the transaction index.

The files have the suffix `.cleaned` until the broker renames them. `finish` syncs them, so that
what the broker swaps in is durable before what it replaces goes.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokerd.log import file_names
from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.index_interval import RebuiltIndexes, index_batches
from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.io.files import sync_path
from brokerd.protocol.records import BatchHeader, Buffer

BUFFERS_MAX: Final = 512


class CleanedSegmentWriter(RebuiltIndexes):
    """Methods that write raise OSError."""

    def __init__(
        self, directory: str, base_offset: int, job: str, index_interval_bytes: int
    ) -> None:
        self._paths = {
            suffix: file_names.cleaned_file(directory, base_offset, suffix, job)
            for suffix in (file_names.LOG, *file_names.INDEX_SUFFIXES)
        }
        try:
            for suffix in (file_names.INDEX, file_names.TIME_INDEX):
                open(self._paths[suffix], "xb").close()
            self._file = open(self._paths[file_names.LOG], "xb", buffering=0)  # noqa: SIM115
        except OSError:
            self.discard()
            raise
        index = OffsetIndex(self._paths[file_names.INDEX], base_offset)
        time_index = TimeIndex(self._paths[file_names.TIME_INDEX], base_offset)
        super().__init__(base_offset, index, time_index, index_interval_bytes)

    def write(self, batches: Sequence[tuple[BatchHeader, Buffer]]) -> None:
        """Appends batches; of each header, only last offset and largest timestamp are used."""
        for start in range(0, len(batches), BUFFERS_MAX):
            self._write_out([data for _, data in batches[start : start + BUFFERS_MAX]])
        if not batches:
            return
        index_batches(
            self,
            [(header.last_offset, len(data), header.max_timestamp) for header, data in batches],
        )

    def _write_out(self, buffers: list[Buffer]) -> None:
        wanted = sum(map(len, buffers))
        written = os.writev(self._file.fileno(), buffers)
        if written < wanted:  # rare: the rest in one piece
            rest = memoryview(b"".join(buffers))[written:]
            while rest:
                rest = rest[self._file.write(rest) :]

    def finish(self, aborted: list[AbortedTxn], modified_ns: int) -> None:
        """Complete and sync the files; the data counts as last changed at `modified_ns`."""
        self.time_index.append(self.largest_timestamp_ms, self.largest_timestamp_offset)
        self.index.flush()
        self.time_index.flush()
        transaction_index.write(self._paths[file_names.TXN_INDEX], aborted, 0)
        os.utime(self._file.fileno(), ns=(modified_ns, modified_ns))
        os.fsync(self._file.fileno())
        self._file.close()
        for suffix in file_names.INDEX_SUFFIXES:
            if suffix != file_names.TXN_INDEX or aborted:
                sync_path(self._paths[suffix])

    def discard(self) -> None:
        for path in self._paths.values():
            with suppress(FileNotFoundError):
                os.unlink(path)

"""One checkpoint of all logs: offsets are collected a slice at a time, since asking 40,000 logs
takes tens of milliseconds, and written if any changed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from brokerd.log.dirs.log_dirs import LogDirs
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.offset_checkpoint_file import Done
from brokerd.topic_partition import TopicPartition

SLICE: Final = 4_000

OffsetOf = Callable[[TopicPartition], int | None]
"""The offset to be written for a log; None for a log that need not be in the file."""


@dataclass(slots=True)
class CheckpointWriter:
    """The file `_name` of every log directory; `_done` is called for each that was written."""

    _dirs: LogDirs
    _name: str
    _submit: Callable[[DiskJob], None]
    _done: Done
    _keys: Iterator[TopicPartition] | None = None
    _offset_of: OffsetOf = lambda key: None
    _found: dict[str, dict[TopicPartition, int]] = field(default_factory=dict)

    @property
    def is_under_way(self) -> bool:
        """Whether offsets are being collected."""
        return self._keys is not None

    def begin(self, keys: Iterable[TopicPartition], offset_of: OffsetOf) -> None:
        """Starts a round. `keys` must not change until its end; `offset_of` is called during it."""
        self._keys = iter(keys)
        self._offset_of = offset_of
        self._found = {log_dir.path: {} for log_dir in self._dirs.live}

    def step(self) -> bool:
        """Collects some offsets; returns whether there are more, else writes the files."""
        if self._keys is None:
            return False
        asked = 0
        for key in islice(self._keys, SLICE):
            asked += 1
            log_dir = self._dirs.of.get(key)
            offset = self._offset_of(key)
            if log_dir is not None and offset is not None and log_dir.path in self._found:
                self._found[log_dir.path][key] = offset
        if asked == SLICE:
            return True
        self._keys = None
        self._write()
        return False

    def run(self, keys: Iterable[TopicPartition], offset_of: OffsetOf) -> None:
        """Does a whole round at once. All submitted jobs must be done."""
        submit, self._submit = self._submit, run_now
        self.write(keys, offset_of)
        self._submit = submit

    def write(self, keys: Iterable[TopicPartition], offset_of: OffsetOf) -> None:
        """Collects all offsets at once, and submits the jobs that write the files."""
        self.begin(keys, offset_of)
        while self.step():
            pass

    def forget(self, directory: str) -> None:
        """The file of a log directory is written elsewhere: drops what the current round has
        collected for it, which may be older."""
        self._found.pop(directory, None)

    def forget_log(self, key: TopicPartition) -> None:
        for found in self._found.values():
            found.pop(key, None)

    def _write(self) -> None:
        found, self._found = self._found, {}
        for log_dir in self._dirs.live:  # one that went offline is left alone
            offsets = found.get(log_dir.path)
            file = log_dir.checkpoints[self._name]
            if offsets is not None and offsets != file.latest:
                self._submit(file.job(offsets, self._done))

"""One checkpoint of many logs, gathered a slice at a time and written when it says something new.

With 40,000 logs, asking each for its offset takes the loop tens of milliseconds, and writing a file
that says what it said a minute ago costs an idle broker more than all else.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from brokerd.log.context import DiskJob, run_now
from brokerd.log.dirs.all_log_dirs import LogDirs
from brokerd.topic_partition import TopicPartition

SLICE: Final = 4_000

OffsetOf = Callable[[TopicPartition], int | None]
"""The offset to be written for a log; None for a log that need not be in the file."""


class CheckpointRound:
    """The file `name` of every log directory. Where logs are used, `failed` gets errors."""

    def __init__(
        self,
        dirs: LogDirs,
        name: str,
        submit: Callable[[DiskJob], None],
        failed: Callable[[OSError], None],
    ) -> None:
        self._dirs = dirs
        self._name = name
        self._submit = submit
        self._failed = failed
        self._keys: Iterator[TopicPartition] | None = None
        self._offset_of: OffsetOf = lambda key: None
        self._found: dict[str, dict[TopicPartition, int]] = {}

    @property
    def is_under_way(self) -> bool:
        """Whether logs are still being asked."""
        return self._keys is not None

    def begin(self, keys: Iterable[TopicPartition], offset_of: OffsetOf) -> None:
        """Start anew. `keys` must stand still until the end; `offset_of` is asked as it goes."""
        self._keys = iter(keys)
        self._offset_of = offset_of
        self._found = {log_dir.path: {} for log_dir in self._dirs.live}

    def step(self) -> bool:
        """Ask some more logs; whether there are others. After the last the files are written."""
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
        """All of it on the spot. Whatever was submitted before must have been done."""
        submit, self._submit = self._submit, run_now
        self.begin(keys, offset_of)
        while self.step():
            pass
        self._submit = submit

    def forget(self, directory: str) -> None:
        """Somebody else writes the file of a log directory: what a round under way has found there
        may be older than that."""
        self._found.pop(directory, None)

    def forget_log(self, key: TopicPartition) -> None:
        """What a round under way has found of a log is of one that is no more."""
        for found in self._found.values():
            found.pop(key, None)

    def _write(self) -> None:
        found, self._found = self._found, {}
        for log_dir in self._dirs.live:  # one that went offline is left alone
            offsets = found.get(log_dir.path)
            file = log_dir.checkpoints[self._name]
            if offsets is not None and offsets != file.latest:
                self._submit(file.job(offsets, self._done))

    def _done(self, error: OSError | None) -> None:
        if error is not None:
            self._failed(error)

"""Writing a log directory's checkpoint outside the thread that appends."""

from dataclasses import dataclass

from brokerd.log.checkpoints import Offsets, offset_entries, write_entries


@dataclass(frozen=True, slots=True)
class CheckpointJob:
    """Replace the checkpoint at `path`; `offsets` must not change any more."""

    path: str
    offsets: Offsets

    def run(self) -> None:
        write_entries(self.path, offset_entries(self.offsets))

    def finish(self) -> None:
        """Nothing in memory follows from it."""

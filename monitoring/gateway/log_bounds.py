"""The bounds of a partition's log, as its leader reports them."""

from typing import NamedTuple


class LogBounds(NamedTuple):
    """Offsets; consumers read up to the high watermark, with read_committed up to the last stable
    offset."""

    log_start: int
    last_stable: int
    high_watermark: int

"""What the parsers read from, and the error that they raise. Pure."""

from collections.abc import Callable

from monitoring.error_reason import Reason

ReadAt = Callable[[int, int], bytes]
"""(position, size) → that part of a file; fewer bytes where it ends. Raises OSError."""


class DamagedFile(Exception):
    """The content of a file is not valid."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason

"""Producer ids: claimed from the cluster a block at a time, handed out one by one. What is left of
a block at a restart is lost.
"""


class ProducerIds:
    """The ids left of this broker's block. Pure: the caller claims blocks."""

    def __init__(self) -> None:
        self._next = 0
        self._last = -1

    @property
    def left(self) -> int:
        return self._last - self._next + 1

    def take(self) -> int | None:
        """The next id; None when the block is used up."""
        if self._next > self._last:
            return None
        taken = self._next
        self._next += 1
        return taken

    def refill(self, first: int, last: int) -> None:
        """A fresh block, both ends included; the rest of the old one must be used up."""
        assert self.left == 0, "a block is refilled only when it is empty"
        if not 0 <= first <= last:
            raise ValueError(f"no block of producer ids: {first} to {last}")
        self._next, self._last = first, last

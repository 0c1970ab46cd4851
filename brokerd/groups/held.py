"""What the members of groups hold in memory: ids, subscriptions, assignments, names of groups.

A bound that Kafka does not have: a join may bring as much as a request may, into as many groups as
a client likes, and it is kept for the session timeout that this client chose.
"""

from collections.abc import Callable

HELD_BYTES_MAX = 256 * 1024 * 1024
"""Of all groups of a broker; who would bring more is refused."""
MEMBER_BYTES = 1_000
"""Of a member besides what it brings, and of an id that was handed out and is not yet used."""


class Held:
    """Of the groups of one partition; `of_all` says what those of all partitions of the broker
    hold, this one's included."""

    __slots__ = ("_of_all", "size_bytes")

    def __init__(self, of_all: Callable[[], int] | None = None) -> None:
        self._of_all = of_all
        self.size_bytes = 0

    def has_room(self, more_bytes: int) -> bool:
        """Whether so much more may be taken in."""
        if more_bytes <= 0:
            return True
        held_bytes = self.size_bytes if self._of_all is None else self._of_all()
        return held_bytes + more_bytes <= HELD_BYTES_MAX


def size_of(
    protocols: tuple[tuple[str, bytes], ...], client_id: str, instance_id: str | None
) -> int:
    """Of what a member brings when it joins."""
    brought = sum(len(name) + len(data) for name, data in protocols)
    return brought + len(client_id) + len(instance_id or "")

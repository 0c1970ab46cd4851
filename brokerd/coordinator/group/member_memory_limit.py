"""The limit of the memory that members of groups use: ids, subscriptions, assignments, names of
groups.

Kafka has no such limit: a JoinGroup may be as large as any request, in as many groups as a client
names, and stays in memory for the session timeout that this client chose.
"""

from collections.abc import Callable

MEMBER_MEMORY_BYTES_MAX = 256 * 1024 * 1024
"""Of all groups of a broker; a JoinGroup or SyncGroup that needs more is refused."""
MEMBER_BYTES = 1_000
"""Of a member without its JoinGroup, and of a member id that was given out and is not used yet."""


class MemberMemory:
    """The memory of the groups of one partition, which one coordinator has."""

    def __init__(self, bytes_of_all_coordinators: Callable[[], int] | None = None) -> None:
        self._bytes_of_all = bytes_of_all_coordinators
        self.size_bytes = 0

    def has_room(self, more_bytes: int) -> bool:
        if more_bytes <= 0:
            return True
        held_bytes = self.size_bytes if self._bytes_of_all is None else self._bytes_of_all()
        return held_bytes + more_bytes <= MEMBER_MEMORY_BYTES_MAX


def size_of(
    protocols: tuple[tuple[str, bytes], ...], client_id: str, instance_id: str | None
) -> int:
    """The bytes of a JoinGroup that stay in memory."""
    brought = sum(len(name) + len(data) for name, data in protocols)
    return brought + len(client_id) + len(instance_id or "")

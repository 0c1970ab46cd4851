"""How much of one cluster is read: a cluster may be broken or hostile, and its numbers are checked.

A part that breaks a limit is left out, and a sentence says so (`Refusals`, shown on the cluster's
pages); where nothing sensible is left, the whole answer is refused (OverLimit). The limits lie far
above what clusters of Kafka reach, and keep a pass over the worst one within some hundred
megabytes.
"""

from monitoring.gateway.errors import OverLimit

# Of one pass over a cluster.
PASS_BYTES_MAX = 256 * 1024 * 1024
BROKERS_MAX = 1_000
TOPICS_MAX = 100_000
PARTITIONS_MAX = 200_000
BROKER_IDS_MAX = 2_000_000  # in all lists of replicas together
GROUPS_MAX = 100_000
GROUP_TOPICS_MAX = 300_000  # pairs of a group or member and a topic
MEMBERS_MAX = 200_000
GROUP_ROWS_MAX = 400_000  # a partition as a group reads it is a row
GROUP_TABLE_BYTES_MAX = 64 * 1024 * 1024
UNKNOWN_PARTITIONS_MAX = 20_000  # of topics that the cluster does not have (any more)
# Of one answer, group or member.
ANSWER_BYTES_MAX = 64 * 1024 * 1024
LARGE_ANSWER_BYTES = 1 << 20  # from here on it is said of one that does not come in time
API_KEYS_MAX = 10_000
ANSWER_ITEMS_MAX = 500_000  # that are read one by one: about a second's work
MEMBERS_PER_GROUP_MAX = 10_000
UNKNOWN_PARTITIONS_PER_GROUP_MAX = 256
# Of one value: larger offsets and sums are not exact where pages add them up.
OFFSET_MAX = (1 << 53) - 1
LAG_MAX = 1 << 42  # of one partition, either way: the sum over a group's partitions is exact
SIZE_BYTES_MAX = 1 << 50
TOPIC_LENGTH_MAX = 249  # Kafka's own
GROUP_LENGTH_MAX = 1_000
TEXT_LENGTH_MAX = 255  # ids and hosts of brokers and members

_TOLD_MAX = 6
_NAME_SHOWN_MAX = 60


class Refusals:
    """What was left out, as sentences: the first few, and how many more there are."""

    def __init__(self) -> None:
        self._told: dict[str, None] = {}
        self._more = 0

    def add(self, text: str) -> None:
        if text in self._told:
            return
        if len(self._told) < _TOLD_MAX:
            self._told[text] = None
        else:
            self._more += 1

    def add_all(self, other: "Refusals") -> None:
        for text in other._told:
            self.add(text)
        self._more += other._more

    def told(self) -> list[str]:
        more = [f"{self._more} more like these"] if self._more else []
        return [*self._told, *more]


def shown(name: str) -> str:
    """A name that somebody else chose, for a sentence."""
    cut = name if len(name) <= _NAME_SHOWN_MAX else name[:_NAME_SHOWN_MAX] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in cut)


def expected(left: set[str], group: str) -> None:
    """Takes `group` out of those whose answer is still due; raises OverLimit for another one."""
    if group not in left:
        raise OverLimit(f"it tells of group {shown(group)}, about which it was not asked")
    left.remove(group)


def within(count: int, count_max: int, what: str) -> None:
    """Raises OverLimit where there are more `what` than are read."""
    if count > count_max:
        raise OverLimit(f"it tells of more than {count_max} {what}, which Aerie does not read")

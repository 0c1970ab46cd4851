"""Limits for what is read from a cluster, which may be broken or hostile.

A part that exceeds a limit is left out, and a message is added to `InvalidParts`, for the cluster's
pages. If that is not possible, the whole response is refused (OverLimit). The limits are far
above what real clusters reach, and keep the memory of one pass below some hundred megabytes.
"""

from monitoring.error_reason import Reason
from monitoring.gateway.errors import OverLimit

# Limits of one pass, which reads the whole cluster once.
PASS_BYTES_MAX = 256 * 1024 * 1024
BROKERS_MAX = 1_000
TOPICS_MAX = 100_000
PARTITIONS_MAX = 200_000
BROKER_IDS_MAX = 2_000_000  # in all replica lists together
LOG_DIRS_MAX = 64  # of a broker
GROUPS_MAX = 100_000
GROUP_TOPICS_MAX = 300_000  # pairs of a group or member and a topic
MEMBERS_MAX = 200_000
GROUP_ROWS_MAX = 400_000  # one row per group and partition
GROUP_TABLE_BYTES_MAX = 64 * 1024 * 1024
UNKNOWN_PARTITIONS_MAX = 20_000  # of topics that do not exist (any more)
# Limits of one answer, group or member.
ANSWER_BYTES_MAX = 64 * 1024 * 1024
LARGE_ANSWER_BYTES = 1 << 20  # a larger one that comes late is OverLimit, not ClusterUnavailable
API_KEYS_MAX = 10_000
CONFIGS_MAX = 5_000  # settings of one broker
ANSWER_ITEMS_MAX = 500_000  # items read one by one: about a second
MEMBERS_PER_GROUP_MAX = 10_000
UNKNOWN_PARTITIONS_PER_GROUP_MAX = 256
# Limits of one value: sums of larger values would not be exact in JavaScript.
OFFSET_MAX = (1 << 53) - 1
# The lag of one partition, positive or negative: the sum over a group's partitions is exact.
LAG_MAX = 1 << 42
SIZE_BYTES_MAX = 1 << 50
TIME_MS_MAX = 253_402_300_799_999  # the end of the year 9999, Python's last
TOPIC_LENGTH_MAX = 249  # Kafka's own
GROUP_LENGTH_MAX = 1_000
TEXT_LENGTH_MAX = 255  # ids and hosts of brokers and members

_MESSAGES_MAX = 6
_NAME_SHOWN_MAX = 60


class InvalidParts:
    """Messages about what was left out: the first few, and the number of others."""

    def __init__(self) -> None:
        self._messages: dict[Reason, None] = {}
        self._more = 0

    def add(self, reason: Reason) -> None:
        if reason in self._messages:
            return
        if len(self._messages) < _MESSAGES_MAX:
            self._messages[reason] = None
        else:
            self._more += 1

    def add_all(self, other: "InvalidParts") -> None:
        for reason in other._messages:
            self.add(reason)
        self._more += other._more

    def messages(self) -> list[Reason]:
        more = [Reason("and_more", n=self._more)] if self._more else []
        return [*self._messages, *more]


def printable(name: str, length_max: int = _NAME_SHOWN_MAX) -> str:
    """A name chosen by others, shortened and with control characters replaced, for messages."""
    cut = name if len(name) <= length_max else name[:length_max] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in cut)


def remove_expected(expected: set[str], group: str) -> None:
    """Remove `group` from the groups still expected; raises OverLimit if it was not requested."""
    if group not in expected:
        raise OverLimit(Reason("group_unrequested", group=printable(group)))
    expected.remove(group)


def check_limit(count: int, count_max: int, code: str) -> None:
    """Raises OverLimit with a Reason of `code` if `count` is above `count_max`."""
    if count > count_max:
        raise OverLimit(Reason(code, max=count_max))

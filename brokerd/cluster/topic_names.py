"""Rules for topic names, as Kafka's. `.` and `_` become the same character in metric names, so a
topic is refused whose name differs only there from another.
"""

import re
from collections.abc import Iterable, Mapping

from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC
from brokerd.errors import ErrorCode, KafkaError

LENGTH_MAX = 249
TRANSACTIONS_TOPIC = "__transaction_state"
QUORUM_TOPIC = "__cluster_metadata"
"""Where Kafka's own quorum keeps its log; no topic may have this name."""
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def check_topic_name(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION with the reason."""
    reason = _reason(name)
    if reason:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def is_topic_name(name: str) -> bool:
    return _reason(name) is None


def _reason(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return "'.' or '..' is not allowed"
    if len(name) > LENGTH_MAX:
        return f"the length of '{name[:LENGTH_MAX]}…' is longer than {LENGTH_MAX} characters"
    if not _LEGAL.match(name):
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None


def collision_key(name: str) -> str:
    """Two different names with the same key collide."""
    return name.replace(".", "_")


def collision_keys(names: Iterable[str]) -> dict[str, str]:
    """The existing topics, by their collision key."""
    return {collision_key(name): name for name in names}


def check_collision(name: str, existing: Mapping[str, str]) -> None:
    """Raises INVALID_TOPIC_EXCEPTION. `existing` is from `collision_keys`."""
    other = existing.get(collision_key(name), name)
    if other != name:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic '{other}': "
            "names may not differ only by '.' and '_'",
        )

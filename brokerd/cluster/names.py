"""Rules for topic names, as Kafka's: what is allowed, and which names collide in its metrics.

`.` and `_` become the same character in metric names, so two topics that differ only there would
be one in a metric: creating the second is refused.
"""

import re
from collections.abc import Iterable

from brokerd.errors import ErrorCode, KafkaError

LENGTH_MAX = 249
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def check_topic_name(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION with the reason."""
    reason = _reason(name)
    if reason:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


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


def check_collision(name: str, existing: Iterable[str]) -> None:
    """Raises INVALID_TOPIC_EXCEPTION where a topic exists whose name collides with this one."""
    if "." not in name and "_" not in name:
        return
    key = collision_key(name)
    for other in existing:
        if other != name and collision_key(other) == key:
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic '{other}': "
                "names may not differ only by '.' and '_'",
            )

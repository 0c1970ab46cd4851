"""What Kafka takes as the name of a topic, and the names of the console's own (own_topics.py)."""

import re

CONSOLE_ACCESS = "console.access"
CONSOLE_AUDIT = "console.audit"
_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_topic_name(name: str) -> bool:
    """Whether a topic may have this name."""
    return _TOPIC_NAME.fullmatch(name) is not None and name not in (".", "..")

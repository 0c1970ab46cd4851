"""Kafka's rule for names of topics, and the names of the console's topics (console_topics.py)."""

import re

CONSOLE_ACCESS = "console.access"
CONSOLE_AUDIT = "console.audit"
_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_topic_name(name: str) -> bool:
    """Whether the name is valid."""
    return _TOPIC_NAME.fullmatch(name) is not None and name not in (".", "..")

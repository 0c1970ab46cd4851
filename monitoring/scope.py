"""`Scope`: the topics and groups of a cluster that a user sees.

A pattern is a name, or a prefix followed by `*` (Kafka's LITERAL and PREFIXED patterns); `*` alone
matches all names. Topics in `hidden_topics` are never visible. A scope is small and hashable, so
that results can be cached for all users with the same scope. The console assigns scopes to users
(console/accounts/rights.py).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

ANY = "*"
_WILDCARD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Scope:
    """The visible topics and groups; by default all."""

    topics: tuple[str, ...] = (ANY,)
    groups: tuple[str, ...] = (ANY,)
    hidden_topics: frozenset[str] = frozenset()

    def shows_topic(self, name: str) -> bool:
        """Whether a topic with this name is visible."""
        return name not in self.hidden_topics and matches(self.topics, name)

    def shows_group(self, name: str) -> bool:
        """Whether a group with this name is visible."""
        return matches(self.groups, name)

    def shows_subject(self, name: str) -> bool:
        """Whether a subject of a schema registry is visible: if its topic is; one that has none, if
        all topics are."""
        topic = topic_of_subject(name)
        if topic:
            return self.shows_topic(topic)
        return ANY in self.topics and not self.hidden_topics

    def shows_topics_of(self, glob: str) -> bool:
        """Whether all topics that a shell-style pattern matches are visible.

        A pattern with wildcards does not match hidden topics; only a full name does.
        """
        return covers(self.topics, to_scope_pattern(glob)) and glob not in self.hidden_topics

    def shows_groups_of(self, glob: str) -> bool:
        """Whether all groups that a shell-style pattern matches are visible."""
        return covers(self.groups, to_scope_pattern(glob))

    def contains(self, other: "Scope") -> bool:
        """Whether everything visible in `other` is also visible here."""
        return (
            all(covers(self.topics, pattern) for pattern in other.topics)
            and all(covers(self.groups, pattern) for pattern in other.groups)
            and not any(map(other.shows_topic, self.hidden_topics))
        )


EVERYTHING = Scope()
NOTHING = Scope(topics=(), groups=())


def topic_of_subject(subject: str) -> str:
    """The topic whose keys or values have the subject, by Confluent's TopicNameStrategy, or ""."""
    topic, _dash, part = subject.rpartition("-")
    return topic if part in ("key", "value") else ""


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of the patterns matches the name."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith(ANY) else name == pattern
        for pattern in patterns
    )


def to_scope_pattern(glob: str) -> str:
    """A scope pattern that matches at least what a shell-style pattern matches.

    It is the text before the first wildcard, as a prefix.
    """
    literal = _WILDCARD.split(glob, maxsplit=1)[0]
    return glob if literal == glob else literal + ANY


def covers(patterns: Iterable[str], pattern: str) -> bool:
    """Whether every name that `pattern` matches is matched by one of `patterns`.

    Of two literal or prefixed patterns, one contains the other or they have no name in common. So
    one of `patterns` alone must cover `pattern`.
    """
    return any(
        pattern.startswith(wider[:-1]) if wider.endswith(ANY) else pattern == wider
        for wider in patterns
    )

"""What console-consumer reads: one topic, or those that a regular expression names.

librdkafka has regular expressions of a poorer kind than Java's, and takes a name that begins with
`^` for one. So here the topics are listed and matched, and it only ever sees names.
"""

import re
import time
from collections.abc import Callable, Collection
from typing import Any, Protocol

from brokerd.cli.options import CliError
from brokerd.cluster.topic_names import INTERNAL_TOPICS

ASK_S = 1.0


def compiled(pattern: str) -> "re.Pattern[str]":
    """The regular expression of --include. Raises CliError."""
    if not pattern:
        raise CliError("Topic pattern to subscribe to cannot be empty")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise CliError(f"{pattern} is an invalid regex: {error}") from None


class Topics(Protocol):
    """What a consumer is subscribed to."""

    def renew(self) -> None:
        """Subscribes, and does so anew, where it is time to. Where no broker answers, the next
        call asks again."""


class NamedTopic:
    """Subscribes a consumer to one topic, which brokers make where it is missing, if they may.

    Java's consumer asks them to as it asks for what it has subscribed to. librdkafka asks for that
    without leave to make it, whatever allow.auto.create.topics says, and believes the answer; only
    what is asked for by name goes by that setting.
    """

    def __init__(self, consumer: Any, subscribe: Callable[[list[str]], None], name: str) -> None:
        """`subscribe` is the consumer's."""
        self._consumer = consumer
        self._subscribe = subscribe
        self._name = name
        self._subscribed = False

    def renew(self) -> None:
        from confluent_kafka import KafkaException

        if self._subscribed:
            return
        try:
            self._consumer.list_topics(self._name, timeout=ASK_S)
        except KafkaException:  # librdkafka names those brokers by itself
            return
        self._subscribe([self._name])
        self._subscribed = True


class MatchingTopics:
    """Subscribes a consumer to the topics that match, and looks for others from time to time."""

    def __init__(
        self,
        consumer: Any,
        subscribe: Callable[[list[str]], None],
        pattern: "re.Pattern[str]",
        refresh_ms: int,
        *,
        internal: bool = False,
    ) -> None:
        """`subscribe` is the consumer's. With `internal`, Kafka's own topics may match too
        (exclude.internal.topics=false)."""
        self._consumer = consumer
        self._subscribe = subscribe
        self._hidden: Collection[str] = () if internal else INTERNAL_TOPICS
        self._pattern = pattern
        self._refresh_s = refresh_ms / 1000
        self._names: list[str] | None = None
        self._due_s = 0.0

    def renew(self) -> None:
        from confluent_kafka import KafkaException

        if self._names is not None and time.monotonic() < self._due_s:
            return
        try:
            topics = self._consumer.list_topics(timeout=ASK_S).topics
        except KafkaException:  # librdkafka names those brokers by itself
            return
        self._due_s = time.monotonic() + self._refresh_s
        names = sorted(
            name
            for name in topics
            if name not in self._hidden and self._pattern.fullmatch(name) is not None
        )
        if names == self._names:
            return
        if names:
            self._subscribe(names)
        elif self._names:
            self._consumer.unsubscribe()
        self._names = names

"""A setting of a topic or broker, or the level of a logger."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One setting of a topic or broker; `value` None = sensitive or unset.

    `inherited`: the value without the topic's own; None = the brokers did not say.
    """

    name: str
    value: str | None
    source: str  # Kafka's names: DYNAMIC_TOPIC_CONFIG, STATIC_BROKER_CONFIG, DEFAULT_CONFIG …
    is_default: bool
    is_sensitive: bool
    is_read_only: bool = False
    default: str | None = None  # Kafka's own; None = unknown, or there is none
    documentation: str = ""
    inherited: str | None = None

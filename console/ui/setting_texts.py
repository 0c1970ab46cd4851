"""Texts about a setting: its value in a readable unit, and where the value comes from. Pure."""

from django.utils.translation import gettext as _

from console.ui import numbers, times

TOPIC_SOURCE = "DYNAMIC_TOPIC_CONFIG"  # Kafka's name: the value is set for the topic itself
_NO_LIMIT = {"-1", str(2**63 - 1), str(2**31 - 1)}


def source_text(source: str) -> str:
    """Where a value comes from, for Kafka's name of its source."""
    return {
        "DEFAULT_CONFIG": _("default"),
        TOPIC_SOURCE: _("this topic"),
        "STATIC_BROKER_CONFIG": _("the broker's file"),
        "DYNAMIC_BROKER_CONFIG": _("this broker"),
        "DYNAMIC_DEFAULT_BROKER_CONFIG": _("all brokers"),
    }.get(source, source)


def meaning(name: str, value: str | None) -> str:
    """Milliseconds or bytes in a readable unit; "≈" if a duration was rounded."""
    unit = name.rpartition(".")[2]
    if value is None or unit not in ("ms", "bytes", "messages"):
        return ""
    if value in _NO_LIMIT:
        return _("no limit")
    if not value.isdigit() or unit == "messages":
        return ""
    if unit == "bytes":
        return numbers.size(int(value))
    seconds = int(value) / 1000
    is_rounded = seconds % times.duration_step_s(seconds) != 0
    return f"≈ {times.duration(seconds)}" if is_rounded else times.duration(seconds)

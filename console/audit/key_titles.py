"""The titles of keys in audit entries."""

from django.utils.translation import gettext as _


def key_title(key: str) -> str:
    """The title of a key of `before` and `after`; unknown keys are shown unchanged."""
    return {
        "topic": _("Topic"),
        "partitions": _("Partitions"),
        "replication_factor": _("Replication factor"),
        "offsets": _("Offsets"),
        "size_bytes": _("Size in bytes"),
    }.get(key, key)

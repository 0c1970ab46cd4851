"""The words for the keys of the audit log; one without words here is shown as it is."""

from django.utils.translation import gettext as _


def key_title(key: str) -> str:
    """What a key of `before` and `after` is called on the page."""
    return {
        "topic": _("Topic"),
        "partitions": _("Partitions"),
        "replication_factor": _("Replication factor"),
        "offsets": _("Offsets"),
        "size_bytes": _("Size in bytes"),
    }.get(key, key)

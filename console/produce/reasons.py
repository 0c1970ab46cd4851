"""The Reasons of plans that write records: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "again_masked": gettext_noop(
        "Parts of this topic’s records are masked for you, so none can be sent again."
    ),
    "records_deleted": gettext_noop(
        "The records of this plan were deleted: they are kept for one hour. Plan the change again."
    ),
    "records_unreadable": gettext_noop(
        "The records of this plan cannot be decrypted: %(why)s. Plan the change again."
    ),
    "records_written": gettext_noop("Acknowledged: %(where)s."),
    "records_at": gettext_noop(
        "partition %(partition)s: %(n)s records, offsets %(first)s to %(last)s"
    ),
    "records_more_partitions": gettext_noop("%(n)s more partitions"),
    "records_why_and_where": gettext_noop("%(why)s. Acknowledged: %(where)s."),
    "records_partly_written": gettext_noop(
        "%(n)s of %(total)s records were acknowledged. Without an acknowledgement, but perhaps "
        "written: %(unknown)s. Not sent, or refused: %(left)s. %(why)s"
    ),
}

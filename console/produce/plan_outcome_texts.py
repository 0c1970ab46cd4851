"""The outcomes of plans that write records, as Reasons: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "again_masked": gettext_noop(
        "Parts of this topic’s records are masked for you, so none can be sent again."
    ),
    "copy_source_hidden": gettext_noop(
        "You may not read all parts of the records of %(topic)s, so they are not copied."
    ),
    "copy_stopped": gettext_noop(
        "Partition %(partition)s was copied to offset %(offset)s. A resumed plan goes on there. "
        "Records that it copies again: %(beyond)s. Perhaps written: %(unknown)s. %(why)s"
    ),
    "copy_lost": gettext_noop(
        "The worker stopped while it copied partition %(partition)s. Up to %(n)s records from "
        "offset %(offset)s on may have been copied already: a resumed plan copies them again."
    ),
    "copy_time_up": gettext_noop(
        "One run of a plan copies for %(minutes)s minutes. Resume the plan to go on."
    ),
    "mock_value": gettext_noop("A value could not be made: %(why)s"),
    "records_deleted": gettext_noop(
        "The records of this plan were deleted: they are kept for one hour. Plan the change again."
    ),
    "records_unreadable": gettext_noop(
        "The records of this plan cannot be decrypted: %(why)s. Plan the change again."
    ),
    "records_written": gettext_noop("Acknowledged: %(where)s."),
    "records_none_written": gettext_noop("No record was written."),
    "records_written_of": gettext_noop(
        "%(n)s of %(total)s records were written. Acknowledged: %(where)s."
    ),
    "copy_stopped_at": gettext_noop(
        "%(how)s Partition %(partition)s of the source was copied to offset %(offset)s."
    ),
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

"""Plans to write records. The contents go to WaitingRecords, never into plan, audit or logs."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.produce import records_as_text
from console.produce.actions.write_records import WriteRecords
from console.produce.models import WaitingRecords
from console.records import masking_rules, read_records
from console.topics.changeable_topics import why_not_writable
from console.ui import numbers
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway.errors import Refused
from monitoring.gateway.producing import NewRecord
from monitoring.gateway.record_row import RecordRow
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class RecordsToWrite:
    """Which records to write to a topic: each `times` times.

    Attributes:
        file: the contents of the file, or the lines, that they are from; None = a form's fields.
        schemas: "key" or "value" → the title of the schema with which it was encoded.
    """

    topic: str
    records: Sequence[NewRecord]
    times: int = 1
    compression: str = "none"
    file: bytes | None = None
    schemas: Mapping[str, str] = field(default_factory=dict)


def propose_write(principal: Principal, cluster: Cluster, wanted: RecordsToWrite) -> Plan:
    """Plan to write records. Raises PlanRefused or GatewayError."""
    if reason := why_not_writable(cluster, wanted.topic):
        raise PlanRefused(reason)
    summary = records_as_text.summary(wanted.records, wanted.times)
    _check_limits(summary)
    is_file = wanted.file is not None
    hashed_data = wanted.file if wanted.file is not None else wanted.records[0].value
    params = {
        "name": wanted.topic,
        "contents": str(uuid.uuid4()),
        "compression": wanted.compression,
        "sha256": "" if hashed_data is None else hashlib.sha256(hashed_data).hexdigest(),
        "hashed": "file" if is_file else "value",
        "schemas": dict(wanted.schemas),
        **summary,
    }
    plan = plans.propose(principal, cluster, WriteRecords.action, wanted.topic, params)
    store_contents(plan, list(wanted.records))
    return plan


def record_to_send_again(
    principal: Principal, cluster: Cluster, topic: str, partition: int, offset: int
) -> RecordRow:
    """A record that the user sees unmasked. Raises PermissionDenied or GatewayError."""
    read_records.require_readable(principal, cluster, topic)
    if masking_rules.is_masked(principal, cluster, topic):
        raise Refused(Reason("again_masked"))
    return read_records.read_row(principal, cluster, topic, partition, offset)


def store_contents(plan: Plan, records: list[NewRecord]) -> None:
    """Store the contents of a plan, encrypted. Raises PlanRefused if they cannot be encrypted."""
    try:
        WaitingRecords.store(uuid.UUID(plan.params["contents"]), records)
    except SecretUnreadable as error:
        plan.delete()
        raise PlanRefused(error.reason) from error


def _check_limits(summary: dict[str, int]) -> None:
    if summary["count"] > records_as_text.RECORDS_MAX:
        text = _("These are %(n)s records. One plan writes at most %(most)s.")
        values = {
            "n": numbers.count(summary["count"]),
            "most": numbers.count(records_as_text.RECORDS_MAX),
        }
        raise PlanRefused(text % values)
    if summary["size_bytes"] > records_as_text.BYTES_MAX:
        text = _("The records have %(size)s together. One plan writes at most %(most)s.")
        values = {
            "size": numbers.size(summary["size_bytes"]),
            "most": numbers.size(records_as_text.BYTES_MAX),
        }
        raise PlanRefused(text % values)

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
from console.produce import stored_records
from console.produce.actions.write_records import WriteRecords
from console.produce.models import WaitingRecords
from console.records import masking_rules, read_records
from console.topics.restrictions import why_not_writable
from console.ui import numbers
from monitoring.encryption import SecretUnreadable
from monitoring.gateway.errors import Refused
from monitoring.gateway.producing import NewRecord
from monitoring.gateway.record_row import RecordRow
from monitoring.models import Cluster
from monitoring.reasons import Reason


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What to write: each record `times` times. `file` is the file that the records are from;
    `schemas`: "key" or "value" → the title of the schema with which it was encoded."""

    topic: str
    records: Sequence[NewRecord]
    times: int = 1
    compression: str = "none"
    file: bytes | None = None
    schemas: Mapping[str, str] = field(default_factory=dict)


def propose_write(principal: Principal, cluster: Cluster, request: WriteRequest) -> Plan:
    """Plan to write records. Raises PlanRefused or GatewayError."""
    if reason := why_not_writable(cluster, request.topic):
        raise PlanRefused(reason)
    summary = stored_records.summary(request.records, request.times)
    _check_limits(summary)
    is_file = request.file is not None
    hashed_data = request.file if request.file is not None else request.records[0].value
    params = {
        "name": request.topic,
        "contents": str(uuid.uuid4()),
        "compression": request.compression,
        "sha256": "" if hashed_data is None else hashlib.sha256(hashed_data).hexdigest(),
        "hashed": "file" if is_file else "value",
        "schemas": dict(request.schemas),
        **summary,
    }
    plan = plans.propose(principal, cluster, WriteRecords.action, request.topic, params)
    store_contents(plan, list(request.records))
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


def _check_limits(found: dict[str, int]) -> None:
    if found["count"] > stored_records.RECORDS_MAX:
        text = _("These are %(n)s records. One plan writes at most %(most)s.")
        values = {
            "n": numbers.count(found["count"]),
            "most": numbers.count(stored_records.RECORDS_MAX),
        }
        raise PlanRefused(text % values)
    if found["size_bytes"] > stored_records.BYTES_MAX:
        text = _("The records have %(size)s together. One plan writes at most %(most)s.")
        values = {
            "size": numbers.size(found["size_bytes"]),
            "most": numbers.size(stored_records.BYTES_MAX),
        }
        raise PlanRefused(text % values)

"""Plans to write records. The contents go to WaitingRecords, never into plan, audit or logs."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as actions
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.produce import contents
from console.produce.models import WaitingRecords
from console.produce.target import write_refusal
from console.produce.write_records import WriteRecords
from console.ui import numbers
from monitoring.gateway.producing import NewRecord
from monitoring.models import Cluster
from monitoring.secrets import SecretUnreadable


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What to write: each record `times` times. `file` is the file that the records are from."""

    topic: str
    records: Sequence[NewRecord]
    times: int = 1
    compression: str = "none"
    file: bytes | None = None


def propose_write(principal: Principal, cluster: Cluster, request: WriteRequest) -> Plan:
    """Plan to write records. Raises PlanRefused or GatewayError."""
    if reason := write_refusal(cluster, request.topic):
        raise PlanRefused(reason)
    found = contents.summary(request.records, request.times)
    _check_limits(found)
    is_file = request.file is not None
    hashed = request.file if request.file is not None else request.records[0].value
    params = {
        "name": request.topic,
        "contents": str(uuid.uuid4()),
        "compression": request.compression,
        "sha256": "" if hashed is None else hashlib.sha256(hashed).hexdigest(),
        "hashed": "file" if is_file else "value",
        **found,
    }
    plan = actions.propose(principal, cluster, WriteRecords.name, request.topic, params)
    store(plan, list(request.records))
    return plan


def store(plan: Plan, records: list[NewRecord]) -> None:
    """Keep the contents of a plan. Raises PlanRefused if they cannot be encrypted."""
    try:
        WaitingRecords.of(uuid.UUID(plan.params["contents"]), records)
    except SecretUnreadable as error:
        plan.delete()
        raise PlanRefused(str(error)) from error


def _check_limits(found: dict[str, int]) -> None:
    if found["count"] > contents.RECORDS_MAX:
        text = _("These are %(n)s records. One plan writes at most %(most)s.")
        values = {
            "n": numbers.count(found["count"]),
            "most": numbers.count(contents.RECORDS_MAX),
        }
        raise PlanRefused(text % values)
    if found["size_bytes"] > contents.BYTES_MAX:
        text = _("The records have %(size)s together. One plan writes at most %(most)s.")
        values = {
            "size": numbers.size(found["size_bytes"]),
            "most": numbers.size(contents.BYTES_MAX),
        }
        raise PlanRefused(text % values)

"""Plans to write mock records."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.produce import records_as_text
from console.produce.actions import mock_records
from console.produce.actions.mock_records import MockSpec, WriteMockRecords
from console.produce.mock_values import InvalidSchema
from console.produce.schema_data import schema_title
from console.produce.write_plans import store_contents
from console.topics.changeable_topics import why_not_writable
from console.ui import numbers
from monitoring.gateway.producing import NewRecord
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class MockRecordsToWrite:
    """Which mock records to write to a topic, and how many."""

    topic: str
    spec: MockSpec
    count: int
    rate: int | None = None  # records a second; None = as fast as possible
    compression: str = "none"


def propose_mock(principal: Principal, cluster: Cluster, wanted: MockRecordsToWrite) -> Plan:
    """Plan to write mock records. Raises PlanRefused or GatewayError."""
    if reason := why_not_writable(cluster, wanted.topic):
        raise PlanRefused(reason)
    try:
        preview = wanted.spec.preview()
    except InvalidSchema as error:
        raise PlanRefused(str(error)) from error
    _check_limits(wanted, preview)
    spec, schema = wanted.spec.dumps(), wanted.spec.schema
    estimate = records_as_text.summary(preview, 1)
    params = {
        **estimate,
        "name": wanted.topic,
        "contents": str(uuid.uuid4()),
        "compression": wanted.compression,
        "sha256": hashlib.sha256(spec).hexdigest(),
        "hashed": "mock",
        "count": wanted.count,
        "size_bytes": estimate["size_bytes"] * wanted.count // len(preview),
        "without_key": wanted.count if estimate["without_key"] else 0,
        "by_key": wanted.count if estimate["by_key"] else 0,
        "rate": wanted.rate,
        "schemas": {"value": schema_title(schema)} if schema else {},
    }
    plan = plans.propose(principal, cluster, WriteMockRecords.action, wanted.topic, params)
    # The specification, in place of records (actions/mock_records.py).
    store_contents(plan, [NewRecord(key=None, value=spec)])
    return plan


def _check_limits(wanted: MockRecordsToWrite, preview: Sequence[NewRecord]) -> None:
    size = sum(record.size_bytes for record in preview) * wanted.count // len(preview)
    seconds = wanted.count / wanted.rate if wanted.rate else 0
    if size > mock_records.BYTES_MAX:
        text = _("The records would have about %(size)s. One plan writes at most %(most)s.")
        values = {"size": numbers.size(size), "most": numbers.size(mock_records.BYTES_MAX)}
        raise PlanRefused(text % values)
    if seconds > mock_records.SECONDS_MAX:
        text = _("This would take %(seconds)d s. One plan writes for at most %(most)d s.")
        raise PlanRefused(text % {"seconds": seconds, "most": mock_records.SECONDS_MAX})

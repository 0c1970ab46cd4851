"""Reads the stored records of a plan; writes them in calls of limited size, and stores what was
acknowledged.

With a rate, calls are small and wait for their time. Before each call a user may stop the plan.

After a record that was not acknowledged no other call is made, and nothing is written again by
itself: the plan fails, says what was acknowledged where, and a user may resume it.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from console.actions.action_type import EndedItem, Params, StopPoint
from console.produce import records_as_text, write_outcome
from console.produce.models import WaitingRecords
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError, Unreadable
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.producing import NewRecord, WriteOutcome

_RECORDS_PER_CALL, _BYTES_PER_CALL = 500, 1 << 20

_NumberedRecord = tuple[str, int, NewRecord]  # key of the item, number and record


def waiting_records(params: Params) -> WaitingRecords:
    """The row of a plan that is applied. Raises GatewayError if its contents were deleted."""
    found = WaitingRecords.objects.filter(pk=params["contents"]).first()
    if found is None or not found.encrypted:
        raise GatewayError(Reason("records_deleted"))
    return found


def decrypted_records(row: WaitingRecords) -> list[NewRecord]:
    """The contents. Raises GatewayError if no key decrypts them."""
    try:
        return row.records()
    except SecretUnreadable as error:
        raise GatewayError(Reason("records_unreadable", why=error.reason)) from error


class Writer:
    """Writes the records of one plan; `make_record` makes the record of a number, from 0 on.

    The parameter `rate` of the plan: records a second; none = as fast as they are acknowledged.
    """

    def __init__(
        self,
        gateway: Gateway,
        params: Params,
        waiting: WaitingRecords,
        make_record: Callable[[int], NewRecord],
    ) -> None:
        self._gateway, self._params, self._waiting = gateway, params, waiting
        self._make_record = make_record
        self._rate: int | None = params.get("rate")
        self._records_per_call = _RECORDS_PER_CALL
        if self._rate:  # a call has the records of half a second
            self._records_per_call = max(1, min(_RECORDS_PER_CALL, self._rate // 2))
        self._began_s, self._sent = time.monotonic(), 0

    def write(self, keys: set[str]) -> Iterator[EndedItem | StopPoint]:
        """Write these items; yields as ItemsAction.apply_items. Raises GatewayError."""
        call: list[_NumberedRecord] = []
        size = 0
        for numbers in records_as_text.item_ranges(self._params["count"]):
            key = records_as_text.item_key(numbers)
            if key not in keys:
                continue
            done = set(self._waiting.acknowledged.get(key, ()))
            numbered = [(key, n, self._make_record(n)) for n in numbers if n not in done]
            size += sum(record.size_bytes for _key, _n, record in numbered)
            call += numbered
            if len(call) >= self._records_per_call or size >= _BYTES_PER_CALL:
                yield from self._write_call(call)
                call, size = [], 0
        if call:
            yield from self._write_call(call)

    def _write_call(self, call: Sequence[_NumberedRecord]) -> Iterator[EndedItem | StopPoint]:
        if self._rate:
            due_s = self._began_s + self._sent / self._rate
            time.sleep(max(0.0, due_s - time.monotonic()))
        yield StopPoint(write_outcome.acknowledged_count(self._waiting) / self._params["count"])
        self._sent += len(call)
        records = [record for _key, _number, record in call]
        name, compression = self._params["name"], self._params["compression"]
        try:
            outcomes = self._gateway.producing.write(name, records, compression)
        except Unreadable as error:  # its process died or was too slow
            unknown = Reason("record_unknown", why=error.message)
            outcomes = [WriteOutcome(error=unknown, is_unknown=True, retriable=True)] * len(records)
        errors: dict[str, str] = {}
        for (key, number, _record), outcome in zip(call, outcomes, strict=True):
            self._waiting.add_outcome(outcome)
            errors[key] = errors.get(key) or outcome.error
            if outcome.offset is not None:
                self._waiting.acknowledged.setdefault(key, []).append(number)
        for key in [key for key, error in errors.items() if not error]:
            self._waiting.acknowledged.pop(key, None)
        self._waiting.save(update_fields=["written", "acknowledged"])
        yield from (EndedItem(key, error) for key, error in errors.items())
        if any(errors.values()):
            raise self._error(outcomes)

    def _error(self, outcomes: Sequence[WriteOutcome]) -> GatewayError:
        failed = [outcome for outcome in outcomes if outcome.offset is None]
        unknown = sum(outcome.is_unknown for outcome in failed)
        number, total = write_outcome.acknowledged_count(self._waiting), self._params["count"]
        reason = Reason(
            "records_partly_written",
            n=number,
            total=total,
            unknown=unknown,
            left=total - number - unknown,
            why=write_outcome.error_text(failed[0].error, self._waiting),
        )
        return GatewayError(reason, retriable=failed[0].retriable)

"""Write mock records to a topic: values of a schema or like an example, in JSON or encoded with a
schema of the registry.

Parameters: those of `record.write` with estimated sizes, and `rate` (records a second, or None).
The MockSpec is stored as the value of one record of WaitingRecords, encrypted, since an example may
be a real record.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from console.actions.action_type import EndedItem, Params, StopPoint
from console.actions.draft import Draft, Facts, Figure
from console.produce.actions.write_records import WriteRecords
from console.produce.mock_avro import document_of
from console.produce.mock_example import schema_of
from console.produce.mock_values import InvalidSchema, MockValues
from console.produce.writer import Writer, decrypted_records, waiting_records
from console.ui import numbers
from console.ui.texts import sentence
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.producing import NewRecord
from monitoring.read_model.snapshot import Snapshot
from monitoring.schema_registry.compiled_schema import SchemaUnusable
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.read_schemas import Schema
from monitoring.schema_registry.schema_encoder import NotEncoded, SchemaEncoder

RECORDS_MAX, SECONDS_MAX, RATE_MAX = 100_000, 120, 10_000
BYTES_MAX = 64 << 20  # of all records of a plan, estimated
RECORD_BYTES_MAX = 512 << 10
PREVIEW_RECORDS = 5


@dataclass(frozen=True, slots=True)
class MockSpec:
    """What mock records are made of: a document, or a schema of the registry.

    Attributes:
        document: a JSON Schema (if `is_schema`), or an example of the values.
        schema: in place of `document`, the schema of the registry that the values follow and that
            encodes them.
        now_ms: times in the values are of the 30 days before it.
        key_member: the member of the value that is the key, dots between names; "" = no key.
    """

    document: Any
    is_schema: bool
    seed: int
    now_ms: int
    key_member: str = ""
    partition: int | None = None
    schema: Schema | None = None

    @classmethod
    def loads(cls, data: bytes) -> "MockSpec":
        """The inverse of `dumps`."""
        fields = json.loads(data)
        if schema := fields["schema"]:
            references = tuple((name, text) for name, text in schema["references"])
            fields["schema"] = Schema(**{**schema, "references": references})
        return cls(**fields)

    def dumps(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    def record_maker(self) -> Callable[[int], NewRecord]:
        """A function that makes the record with a number, from 0 on. It raises InvalidSchema."""
        values, encode = self._values(), self._encode()

        def record(number: int) -> NewRecord:
            value = values.value(number)
            return NewRecord(self._key(value), encode(value), partition=self.partition)

        return record

    def preview_texts(self) -> list[tuple[str, str]]:
        """Key and value of the first records as JSON. Raises InvalidSchema."""
        values = self._values()
        first_values = [values.value(number) for number in range(PREVIEW_RECORDS)]
        return [((self._key(each) or b"").decode(), _text(each).decode()) for each in first_values]

    def _values(self) -> MockValues:
        if self.schema is not None:
            schema = document_of(self.schema)
        else:
            schema = self.document if self.is_schema else schema_of(self.document)
        return MockValues(schema, self.seed, self.now_ms)

    def _encode(self) -> Callable[[Any], bytes]:
        if self.schema is None:
            return _text
        try:
            encoder = SchemaEncoder(self.schema)
        except SchemaUnusable as error:
            raise InvalidSchema(sentence(error.reason)) from error

        def encode(value: Any) -> bytes:
            text = _text(value).decode()
            try:
                return encoder.encode(exact_json(text), text)
            except NotEncoded as error:
                raise InvalidSchema(sentence(error.reason)) from error

        return encode

    def preview(self) -> list[NewRecord]:
        """The first records. Raises InvalidSchema if they cannot be made."""
        make = self.record_maker()
        records = [make(number) for number in range(PREVIEW_RECORDS)]
        if max(record.size_bytes for record in records) > RECORD_BYTES_MAX:
            text = _("A record would have more than %(size)s.")
            raise InvalidSchema(text % {"size": numbers.size(RECORD_BYTES_MAX)})
        return records

    def _key(self, value: Any) -> bytes | None:
        if not self.key_member:
            return None
        for name in self.key_member.split("."):
            if not isinstance(value, dict) or name not in value:
                text = _("A value has no member “%(name)s” for the key. Make it a required one.")
                raise InvalidSchema(text % {"name": self.key_member})
            value = value[name]
        return value.encode("utf-8", "replace") if isinstance(value, str) else _text(value)


class WriteMockRecords(WriteRecords):
    action = "record.mock"
    form_page = "record-mock"

    def title(self, resource: str) -> str:
        return _("Write mock records to “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Write records")

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        draft = super().draft(facts, params, snapshot)
        size, largest = params["size_bytes"], params["largest_bytes"]
        figures = [
            draft.figures[0],
            Figure(_("Size"), numbers.size(size), _("about, by the first five")),
            Figure(_("Largest record"), numbers.size(largest), _("of the first five")),
        ]
        return replace(draft, figures=figures)

    def apply_items(
        self, gateway: Gateway, params: Params, keys: list[str]
    ) -> Iterator[EndedItem | StopPoint]:
        waiting = waiting_records(params)
        [stored] = decrypted_records(waiting)
        spec = MockSpec.loads(stored.value or b"")
        try:
            yield from Writer(gateway, params, waiting, spec.record_maker()).write(set(keys))
        except InvalidSchema as error:  # one that the first records do not show
            raise GatewayError(Reason("mock_value", why=str(error))) from error
        waiting.delete_contents()


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

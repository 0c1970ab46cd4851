"""The form of mock records."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.produce.actions.mock_records import RATE_MAX, RECORDS_MAX, SECONDS_MAX, MockSpec
from console.produce.data_formats import InvalidData, read_json
from console.produce.forms import VALUE, WriteForm, data_field, schema_field
from console.produce.mock_plans import MockRecordsToWrite
from console.produce.mock_values import InvalidSchema
from console.produce.schema_data import find_schema, subject_of
from monitoring.clock import now_ms
from monitoring.schema_registry.read_schemas import Schema

EXAMPLE, JSON_SCHEMA, REGISTRY = "example", "schema", "registry"
_DOCUMENT_MAX = 256 << 10


class MockForm(WriteForm):
    """What to make the records of, how many, and how fast."""

    kind = forms.ChoiceField(
        label=_("Made of"),
        choices=[(EXAMPLE, _("an example record")), (JSON_SCHEMA, _("a JSON Schema"))],
        required=False,
    )
    schema = schema_field(
        _("Schema of the registry"),
        _(
            "Of Avro or JSON Schema: a subject (its latest version) or an id. Nothing: the subject "
            "that is shown."
        ),
    )
    document = data_field(
        _("Example or schema, in JSON"),
        12,
        _("Of an example, numbers vary around theirs, and digits, times, ids and addresses vary."),
    )
    key_member = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=200,
        help_text=_("The member of the value that is the key, such as “id” or “user.id”."),
    )
    count = forms.IntegerField(
        label=_("Records"), min_value=1, max_value=RECORDS_MAX, initial=100, required=False
    )
    rate = forms.IntegerField(
        label=_("Records a second"),
        min_value=1,
        max_value=RATE_MAX,
        required=False,
        help_text=_("Nothing: as fast as possible."),
    )
    seconds = forms.IntegerField(
        label=_("For seconds"),
        min_value=1,
        max_value=SECONDS_MAX,
        required=False,
        help_text=_("In place of the number."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**53,
        required=False,
        help_text=_("The same seed makes the same values."),
    )
    field_order = (
        "kind", "schema", "document", "key_member", "count", "rate", "seconds",
        "partition", "compression", "seed",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._now_ms = now_ms()
        self._schema: Schema | None = None
        self._offer_schema("schema", "kind", (REGISTRY, _("a schema of the registry")), VALUE)

    def clean_document(self) -> Any:
        text = self.cleaned_data["document"]
        if self.cleaned_data.get("kind") == REGISTRY:
            return None
        if not text.strip():
            raise ValidationError(_("Enter an example record or a JSON Schema."))
        if len(text) > _DOCUMENT_MAX:
            raise ValidationError(_("This is larger than 256 KiB."))
        try:
            return read_json(text)
        except InvalidData as error:
            raise ValidationError(str(error)) from error

    def clean(self) -> None:
        data = self.cleaned_data
        if data.get("seconds") and not data.get("rate") and "rate" not in self.errors:
            self.add_error("rate", ValidationError(_("Enter how many records a second.")))
        if not data.get("seconds") and not data.get("count") and "count" not in self.errors:
            self.add_error("count", ValidationError(_("Enter how many records.")))
        if not self.errors and self._count() > RECORDS_MAX:
            text = _("These are more than %(n)d records.")
            self.add_error("seconds", ValidationError(text, params={"n": RECORDS_MAX}))
        if self.errors:
            return
        is_of_registry = data.get("kind") == REGISTRY
        try:
            if is_of_registry:
                self._schema = self._read_schema_of_registry()
            self._spec().preview()
        except (InvalidData, InvalidSchema) as error:
            name = "schema" if is_of_registry else "document"
            self.add_error(name, ValidationError(str(error)))

    def _read_schema_of_registry(self) -> Schema:
        """The schema that was named. Raises InvalidData."""
        if self.registry is None:
            raise InvalidData(_("This cluster has no schema registry."))
        named, subject = self.cleaned_data["schema"], subject_of(self.topic, VALUE)
        schema, _message = find_schema(self.registry, named, subject)
        return schema

    def preview(self) -> list[tuple[str, str]]:
        """The first records as texts of key and value, of a valid form."""
        return self._spec().preview_texts()

    def records_to_write(self, topic: str) -> MockRecordsToWrite:
        data = self.cleaned_data
        return MockRecordsToWrite(
            topic, self._spec(), self._count(), data["rate"], data["compression"]
        )

    def _count(self) -> int:
        data = self.cleaned_data
        return int(data["rate"] * data["seconds"] if data["seconds"] else data["count"])

    def _spec(self) -> MockSpec:
        data = self.cleaned_data
        return MockSpec(
            data["document"],
            data["kind"] == JSON_SCHEMA,
            data["seed"] or 0,
            self._now_ms,
            data["key_member"].strip(),
            data["partition"],
            self._schema,
        )

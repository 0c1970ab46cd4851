"""The form of mock records."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.produce.forms import TargetForm, data_field
from console.produce.mock_records import RATE_MAX, RECORDS_MAX, SECONDS_MAX, MockSpec
from console.produce.mock_values import InvalidSchema
from console.produce.services import MockRequest
from monitoring.clock import now_ms

EXAMPLE, SCHEMA = "example", "schema"
_DOCUMENT_MAX = 256 << 10


class MockForm(TargetForm):
    """What to make the records of, how many, and how fast.

    Attributes:
        preview: the first records as (key, value) texts, of a valid form.
    """

    kind = forms.ChoiceField(
        label=_("Made of"),
        choices=[(EXAMPLE, _("an example record")), (SCHEMA, _("a JSON Schema"))],
        required=False,
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
        "kind", "document", "key_member", "count", "rate", "seconds", "partition", "compression",
        "seed",
    )  # fmt: skip
    preview: list[tuple[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._now_ms = now_ms()

    def clean_document(self) -> Any:
        text = self.cleaned_data["document"]
        if not text.strip():
            raise ValidationError(_("Enter an example record or a JSON Schema."))
        if len(text) > _DOCUMENT_MAX:
            raise ValidationError(_("This is larger than 256 KiB."))
        try:
            return json.loads(text)
        except ValueError as error:
            values = {"line": getattr(error, "lineno", 1), "column": getattr(error, "colno", 1)}
            text = _("It is not valid JSON: see line %(line)d, column %(column)d.")
            raise ValidationError(text, params=values) from error
        except RecursionError as error:
            raise ValidationError(_("This JSON is nested too deeply.")) from error

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
        try:
            records = self._spec().preview()
        except InvalidSchema as error:
            self.add_error("document", ValidationError(str(error)))
            return
        self.preview = [
            ((record.key or b"").decode(), (record.value or b"").decode()) for record in records
        ]

    def request(self, topic: str) -> MockRequest:
        data = self.cleaned_data
        spec = self._spec()
        return MockRequest(topic, spec, self._count(), data["rate"], data["compression"])

    def _count(self) -> int:
        data = self.cleaned_data
        return int(data["rate"] * data["seconds"] if data["seconds"] else data["count"])

    def _spec(self) -> MockSpec:
        data = self.cleaned_data
        return MockSpec(
            data["document"],
            data["kind"] == SCHEMA,
            data["seed"] or 0,
            self._now_ms,
            data["key_member"].strip(),
            data["partition"],
        )

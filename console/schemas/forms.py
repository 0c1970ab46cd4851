"""The forms of changes to subjects."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from monitoring.schema_registry.read_schemas import AVRO, JSON, PROTOBUF, REFERENCES_MAX
from monitoring.schema_registry.subjects import COMPATIBILITIES

SUBJECT_LENGTH_MAX = 300
_TEXT_MAX = 256 << 10
_CODE = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "none", "class": "mono"}
_VERSION = re.compile(r"[0-9]{1,9}")
_TYPES = [(AVRO, "Avro"), (PROTOBUF, "Protobuf"), (JSON, "JSON Schema")]


class RegisterForm(forms.Form):
    """A schema for a subject that is in the URL of the page; see SubjectForm."""

    type = forms.ChoiceField(label=_("Type"), choices=_TYPES)
    schema = forms.CharField(
        label=_("Schema"),
        max_length=_TEXT_MAX,
        widget=forms.Textarea(attrs={"rows": 18, **_CODE}),
    )
    references = forms.CharField(
        label=_("References"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, **_CODE}),
        help_text=_("One a line: name, subject and version, with spaces between them."),
    )

    def clean_references(self) -> list[list[Any]]:
        lines = [line.split() for line in self.cleaned_data["references"].splitlines()]
        found: list[list[Any]] = []
        for words in filter(None, lines):
            if len(words) != 3 or not _VERSION.fullmatch(words[2]):
                raise ValidationError(_("A reference has a name, a subject and a version."))
            found.append([words[0], words[1], int(words[2])])
        if len(found) > REFERENCES_MAX:
            raise ValidationError(_("These are too many references."))
        return found

    def params(self, subject: str) -> dict[str, Any]:
        names = ("schema", "type", "references")
        return {"subject": subject, **{name: self.cleaned_data[name] for name in names}}


class SubjectForm(RegisterForm):
    """A schema for a subject that the user names."""

    subject = forms.CharField(
        label=_("Subject"),
        max_length=SUBJECT_LENGTH_MAX,
        widget=forms.TextInput(attrs=_CODE),
        help_text=_("Of the keys or values of a topic: its name with -key or -value after it."),
    )
    field_order = ("subject", "type", "schema", "references")

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"]
        if not subject.isprintable():
            raise ValidationError(_("A subject has only characters that can be seen."))
        return subject


class VersionsForm(forms.Form):
    """Which version of a subject is shown, and with which one it is compared."""

    version = forms.ChoiceField(label=_("Version"))
    compare = forms.ChoiceField(label=_("Compare with"), required=False)

    def __init__(self, shown: int, other: int | None, versions: Sequence[int]) -> None:
        super().__init__(initial={"version": shown, "compare": other})
        choices = [(number, str(number)) for number in reversed(versions)]
        for name, first in (("version", []), ("compare", [("", _("nothing"))])):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [*first, *choices]


class CompatibilityForm(forms.Form):
    level = forms.ChoiceField(
        label=_("Compatibility"),
        required=False,
        choices=[("", _("that of the registry")), *((each, each) for each in COMPATIBILITIES)],
        help_text=_(
            "BACKWARD: consumers with the new schema read records of the earlier one. FORWARD: "
            "consumers with the earlier schema read new records. FULL: both. TRANSITIVE: with all "
            "earlier versions."
        ),
    )


class DeleteVersionForm(forms.Form):
    version = forms.IntegerField(label=_("Version"), min_value=1, max_value=10**9)

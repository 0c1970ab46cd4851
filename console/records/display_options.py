"""How records are shown: the encodings of key and value, and fields as columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from console.records import column_paths
from console.records.column_paths import FieldPath, PathInvalid, TooManyPaths
from console.records.shown_data import ENCODING_NAMES
from monitoring.records.decoders.encodings import AUTO

_CHOICES = tuple(ENCODING_NAMES.items())


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """Names of encodings (monitoring/records/decoders/encodings.py), and paths of columns."""

    key_as: str = AUTO
    value_as: str = AUTO
    columns: tuple[FieldPath, ...] = ()

    @property
    def query_string(self) -> str:
        """The options as parameters of a URL; empty = the default."""
        chosen = {"key_as": self.key_as, "value_as": self.value_as}
        found = {name: value for name, value in chosen.items() if value != AUTO}
        if self.columns:
            found["columns"] = ", ".join(map(str, self.columns))
        return urlencode(found)


DEFAULT = DisplayOptions()


class DisplayForm(forms.Form):
    """The fields of the display options, for forms that read records."""

    key_as = forms.ChoiceField(label=_("Key as"), choices=_CHOICES, required=False)
    value_as = forms.ChoiceField(label=_("Value as"), choices=_CHOICES, required=False)
    columns = forms.CharField(
        label=_("Fields as columns"),
        max_length=1000,
        required=False,
        widget=forms.TextInput(
            attrs={"placeholder": _("value.user.name, headers.trace"), "spellcheck": "false"}
        ),
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self._columns: tuple[FieldPath, ...] = ()

    def clean_columns(self) -> str:
        text: str = self.cleaned_data["columns"]
        try:
            self._columns = column_paths.parse(text)
        except TooManyPaths as error:
            raise forms.ValidationError(
                _("Choose at most %(most)d fields."), params={"most": column_paths.PATHS_MAX}
            ) from error
        except PathInvalid as error:
            raise forms.ValidationError(
                _("“%(path)s” is not a field. Examples: key, value.user.name, headers.trace"),
                params={"path": error.args[0][: column_paths.PATH_LENGTH_MAX]},
            ) from error
        return text

    @property
    def display(self) -> DisplayOptions:
        """The options of a valid form."""
        data = self.cleaned_data
        return DisplayOptions(data["key_as"] or AUTO, data["value_as"] or AUTO, self._columns)

    @property
    def has_options(self) -> bool:
        """Whether an option is not the default, or is not valid: then the page shows them."""
        names = ("key_as", "value_as", "columns")
        return any(self.data.get(name) not in (None, "", AUTO) for name in names)

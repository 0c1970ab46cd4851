"""The form of a look-up: an offset or a time."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX


class LookUpForm(forms.Form):
    """An offset or a time, not both; not bound if both are empty."""

    offset = forms.IntegerField(
        label=_("Offset"), min_value=0, max_value=OFFSET_MAX, required=False
    )
    at = forms.DateTimeField(label=_("or time (UTC)"), required=False, widget=DateTimeInput())

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data if data.get("offset") or data.get("at") else None)

    def clean(self) -> None:
        data = self.cleaned_data
        if not self.errors and data["offset"] is not None and data["at"] is not None:
            self.add_error("at", _("Enter an offset or a time, not both."))

    def offset_and_time(self) -> tuple[int | None, int | None]:
        """(offset, time in ms); both None if the form is empty or has an error."""
        if not self.is_valid():
            return None, None
        return self.cleaned_data["offset"], milliseconds_of(self.cleaned_data["at"])

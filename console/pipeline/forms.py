"""The form of a back-fill: a range of days."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from monitoring.history.levels import DAY_MS

_INPUT = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class BackfillForm(forms.Form):
    """Sets `from_ms` and `to_ms` in `cleaned_data`."""

    first = forms.DateField(label=gettext_lazy("First day (UTC)"), widget=_INPUT)
    last = forms.DateField(label=gettext_lazy("Last day (UTC)"), widget=_INPUT)

    def __init__(self, data: Any = None, *, now_ms: int) -> None:
        self._now_ms = now_ms
        today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
        super().__init__(data, initial={"first": today, "last": today})

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        from_ms, to_ms = _start_ms(cleaned["first"]), _start_ms(cleaned["last"]) + DAY_MS
        if from_ms >= self._now_ms:
            self.add_error("first", _("This lies in the future: nothing was sampled there yet."))
        elif to_ms <= from_ms:
            self.add_error("last", _("The last day is before the first one."))
        return cleaned | {"from_ms": from_ms, "to_ms": to_ms}


def _start_ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)

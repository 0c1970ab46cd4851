"""The form of a new report: a time range, by name or from and to, and whether with the topics that
only admins see."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.charts.time_ranges import DEFAULT_RANGE, RANGE_TITLES, RANGES_MS
from monitoring.history.levels import MINUTE_MS
from monitoring.reports.kinds import validated_range

CUSTOM = "custom"
_INPUT = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})


class RangeForm(forms.Form):
    """Sets `from_ms` and `to_ms` in `cleaned_data`; `now_ms` is the current time.

    `may_see_hidden`: the user may choose whether the report includes topics that only admins see.
    """

    range = forms.ChoiceField(
        label=gettext_lazy("Time"),
        choices=[*RANGE_TITLES.items(), (CUSTOM, gettext_lazy("From … to …"))],
        initial=DEFAULT_RANGE,
    )
    start = forms.DateTimeField(label=gettext_lazy("From (UTC)"), required=False, widget=_INPUT)
    end = forms.DateTimeField(label=gettext_lazy("To (UTC)"), required=False, widget=_INPUT)
    with_hidden = forms.BooleanField(
        label=gettext_lazy("With the topics that only admins see"),
        required=False,
        help_text=gettext_lazy("The report can then be opened by admins only."),
    )

    def __init__(self, data: Any = None, *, now_ms: int, may_see_hidden: bool) -> None:
        self._now_ms = now_ms
        now = datetime.fromtimestamp(now_ms // MINUTE_MS * 60, UTC)  # a whole minute
        hour_ago = datetime.fromtimestamp(now.timestamp() - 3600, UTC)
        super().__init__(data, initial={"start": hour_ago, "end": now})
        if not may_see_hidden:
            del self.fields["with_hidden"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        if cleaned["range"] != CUSTOM:
            from_ms = self._now_ms - RANGES_MS[cleaned["range"]]
            return cleaned | {"from_ms": from_ms, "to_ms": self._now_ms}
        for name in ("start", "end"):
            if cleaned.get(name) is None:
                self.add_error(name, _("Give a date and a time, or choose a time by name above."))
        if self.errors:
            return cleaned
        return cleaned | self._custom(cleaned["start"], cleaned["end"])

    def _custom(self, start: datetime, end: datetime) -> dict[str, int]:
        given = {"from_ms": _ms(start), "to_ms": min(_ms(end), self._now_ms)}
        if given["from_ms"] >= self._now_ms:
            self.add_error("start", _("This lies in the future: nothing was sampled there yet."))
            return {}
        try:
            return validated_range(given)
        except ValueError as error:
            field, text = _RANGE_ERRORS.get(str(error), _RANGE_ERRORS["out_of_range"])
            self.add_error(field, text)
            return {}


_RANGE_ERRORS = {
    "too_short": ("end", gettext_lazy("The end must lie at least a minute after the beginning.")),
    "too_long": (
        "start",
        gettext_lazy("A report covers at most 400 days. Begin later or end sooner."),
    ),
    "out_of_range": ("start", gettext_lazy("Give a date between 1970 and today.")),
}


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)

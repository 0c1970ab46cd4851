"""The days of which a list shows what happened: two fields of a form, and links to usual ranges."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.table_query import TableQuery

_INPUT = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class DayRangeForm(forms.Form):
    """An empty field is no limit. Invalid values are reported and are no limit."""

    first = forms.DateField(label=gettext_lazy("First day (UTC)"), required=False, widget=_INPUT)
    last = forms.DateField(label=gettext_lazy("Last day (UTC)"), required=False, widget=_INPUT)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        first, last = data.get("first"), data.get("last")
        if first and last and last < first:
            self.add_error("last", _("The last day is before the first one."))
        return data

    @property
    def is_used(self) -> bool:
        return self.is_valid() and any(self.cleaned_data.values())

    def start(self) -> datetime | None:
        """The start of the first day."""
        self.is_valid()  # fills cleaned_data
        first = self.cleaned_data.get("first")
        return datetime.combine(first, time(), UTC) if first else None

    def end(self) -> datetime | None:
        """The end of the last day, which is no part of it."""
        self.is_valid()
        last = self.cleaned_data.get("last")
        return datetime.combine(last, time(), UTC) + timedelta(days=1) if last else None


def day_links(table: TableQuery) -> list[dict[str, Any]]:
    """Usual ranges of days as links, which keep the other filters of the table's page."""
    today = timezone.now().date()
    yesterday = today - timedelta(days=1)
    ranges = (
        (_("Today"), today, today),
        (_("Yesterday"), yesterday, yesterday),
        (_("Last 7 days"), today - timedelta(days=6), today),
    )
    found = []
    for title, first, last in ranges:
        days = {"first": first.isoformat(), "last": last.isoformat()}
        is_active = all(table.params.get(name) == day for name, day in days.items())
        found.append({"title": title, "url": table.url(**days, page=None), "active": is_active})
    return found

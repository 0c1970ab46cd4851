"""The form that copies records to another topic, and the ranges that it asks for."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.produce.copy_plans import RECORDS_MAX, RangesToCopy
from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX
from monitoring.models import Cluster
from monitoring.topic_names import is_topic_name

ALL, TIME, OFFSETS = "all", "time", "offsets"
_LINE = re.compile(r"(\d{1,7})\s*:\s*(\d{1,19})\s*[-–]\s*(\d{1,19})")
_LINES_MAX = 1000


class CopyForm(forms.Form):
    """Which records of a topic to copy where.

    `own`: the cluster of the topic, None = it is read-only. `others`: the other clusters to which
    the user may copy.
    """

    to_cluster = forms.ChoiceField(label=_("To the cluster"), required=False)
    to = forms.CharField(
        label=_("To the topic"), max_length=249, help_text=_("A topic that exists there.")
    )
    how = forms.ChoiceField(
        label=_("Which records"),
        choices=[
            (ALL, _("all that are there now")),
            (TIME, _("of a range of time")),
            (OFFSETS, _("of offsets in each partition")),
        ],
    )
    since = forms.DateTimeField(
        label=_("Since (UTC)"), required=False, widget=DateTimeInput(milliseconds=True)
    )
    until = forms.DateTimeField(
        label=_("Before (UTC)"), required=False, widget=DateTimeInput(milliseconds=True)
    )
    ranges = forms.CharField(
        label=_("Offsets"),
        required=False,
        max_length=40_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("A line for each partition, “0: 100-199”: both offsets are copied."),
    )
    most = forms.IntegerField(
        label=_("At most"),
        min_value=1,
        max_value=RECORDS_MAX,
        initial=10_000,
        help_text=_("Records of all partitions together; the oldest of each are copied."),
    )
    keeps_partitions = forms.BooleanField(
        label=_("To the partition of the same number, else by key"), required=False, initial=True
    )

    def __init__(
        self, *args: Any, own: Cluster | None, others: Sequence[Cluster], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._clusters = {each.slug: each for each in others}
        choices = [(each.slug, each.name) for each in others]
        if own is not None:
            choices.insert(0, ("", _("this one, %(name)s") % {"name": own.name}))
        field: Any = self.fields["to_cluster"]
        field.choices, field.required = choices, own is None
        if not others:
            del self.fields["to_cluster"]

    def clean_to(self) -> str:
        name = str(self.cleaned_data["to"]).strip()
        if not is_topic_name(name):
            raise ValidationError(_("Only letters, digits, “.”, “_” and “-” are allowed."))
        return name

    def clean_ranges(self) -> dict[int, range]:
        lines = [line.strip() for line in self.cleaned_data["ranges"].splitlines()]
        found: dict[int, range] = {}
        for line in filter(None, lines[:_LINES_MAX]):
            match = _LINE.fullmatch(line)
            first, last = (int(match[2]), int(match[3])) if match else (1, 0)
            if match is None or last < first or last >= OFFSET_MAX or int(match[1]) in found:
                text = _("“%(line)s” is not a partition with its offsets, such as 0: 100-199.")
                raise ValidationError(text, params={"line": line[:50]})
            found[int(match[1])] = range(first, last + 1)
        return found

    def clean(self) -> None:
        data = self.cleaned_data
        if data.get("how") == OFFSETS and not data.get("ranges") and "ranges" not in self.errors:
            self.add_error("ranges", ValidationError(_("This field is required.")))
        since, until = data.get("since"), data.get("until")
        if data.get("how") == TIME and not since and not until and not self.errors:
            self.add_error("since", ValidationError(_("Enter one of the times.")))
        if since and until and since >= until:
            self.add_error("until", ValidationError(_("This must be later than “Since”.")))

    def ranges_to_copy(self, topic: str) -> RangesToCopy:
        data = self.cleaned_data
        is_time = data["how"] == TIME
        return RangesToCopy(
            topic,
            data["to"],
            data["most"],
            data["keeps_partitions"],
            milliseconds_of(data["since"]) if is_time else None,
            milliseconds_of(data["until"]) if is_time else None,
            data["ranges"] if data["how"] == OFFSETS else {},
            self._clusters.get(data.get("to_cluster", "")),
        )

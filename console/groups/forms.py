"""The forms of the changes to groups."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.groups.compute_reset_offsets import (
    InvalidInput,
    ResetTo,
    duration_ms,
)
from console.groups.offsets_file import offsets_of_file
from console.groups.read_partitions_to_reset import Reset
from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX
from console.ui.partition_ranges import InvalidRange, partition_numbers
from monitoring.clock import now_ms
from monitoring.gateway.topic_partition import TopicPartition

P = ParamSpec("P")
T = TypeVar("T")
FILE_BYTES_MAX = 1 << 20


class ResetForm(forms.Form):
    how = forms.ChoiceField(
        label=_("Move to"),
        choices=[
            (ResetTo.EARLIEST, _("Earliest")),
            (ResetTo.LATEST, _("Latest")),
            (ResetTo.OFFSET, _("Offset")),
            (ResetTo.TIME, _("Time")),
            (ResetTo.DURATION, _("Duration ago")),
            (ResetTo.SHIFT, _("Shift")),
            (ResetTo.FILE, _("From a file")),
            (ResetTo.GROUP, _("Copy a group")),
        ],
        initial=ResetTo.EARLIEST,
        widget=forms.RadioSelect(attrs={"class": "btn-check"}),
    )
    offset = forms.IntegerField(
        label=_("Offset"), min_value=0, max_value=OFFSET_MAX, required=False
    )
    at = forms.DateTimeField(
        label=_("First record at or after (UTC)"),
        required=False,
        widget=DateTimeInput(),
        input_formats=[
            "%Y-%m-%dT%H:%M",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%d %H:%M:%S",
            "%Y-%m-%d %H:%M",
        ],
        help_text=_("A partition without such a record moves to its end."),
    )
    ago = forms.CharField(
        label=_("How long ago"),
        required=False,
        max_length=20,
        help_text=_("A number and a unit: 30 s, 15 min, 2 h or 7 d."),
    )
    shift = forms.IntegerField(
        label=_("Shift by"),
        min_value=-OFFSET_MAX,
        max_value=OFFSET_MAX,
        required=False,
        help_text=_(
            "−100 reads 100 offsets again, 100 skips 100. It stops at the ends of the log. "
            "Partitions that were never committed stay as they are."
        ),
    )
    file = forms.FileField(
        label=_("CSV file"),
        required=False,
        help_text=_(
            "Lines of topic,partition,offset, as kafka-consumer-groups --export writes them."
        ),
    )
    from_group = forms.CharField(
        label=_("Other group"),
        required=False,
        max_length=300,
        help_text=_("Partitions that it never committed stay as they are."),
    )
    topic = forms.ChoiceField(label=_("Topic"), required=False)
    partitions = forms.CharField(
        label=_("Partitions"),
        required=False,
        max_length=1000,
        help_text=_("For example 0-5, 8. Empty: all. Needs a topic."),
    )

    def __init__(self, data: Any, files: Any, group: str, topics: Sequence[str]) -> None:
        super().__init__(data, files)
        self._group = group
        every = [("", _("All topics that the group has committed"))]
        self.fields["topic"].choices = [*every, *((name, name) for name in topics)]  # type: ignore[attr-defined]

    def clean_partitions(self) -> list[int]:
        return _parsed(partition_numbers, self.cleaned_data["partitions"])

    def clean_ago(self) -> int | None:
        text = self.cleaned_data["ago"]
        if not text or self.cleaned_data.get("how") != ResetTo.DURATION:
            return None
        return _parsed(duration_ms, text)

    def clean_file(self) -> dict[TopicPartition, int]:
        file = self.cleaned_data["file"]
        if not file or self.cleaned_data.get("how") != ResetTo.FILE:
            return {}
        if file.size > FILE_BYTES_MAX:
            raise ValidationError(_("The file is larger than 1 MiB."))
        try:
            text = file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValidationError(_("The file is not text in UTF-8.")) from error
        return _parsed(offsets_of_file, text, self._group)

    def clean(self) -> None:
        """The field that belongs to the chosen way is required."""
        data = self.cleaned_data
        field = {
            ResetTo.OFFSET: "offset",
            ResetTo.TIME: "at",
            ResetTo.DURATION: "ago",
            ResetTo.SHIFT: "shift",
            ResetTo.FILE: "file",
            ResetTo.GROUP: "from_group",
        }.get(data.get("how", ""))
        if field and field not in self.errors and data.get(field) in (None, "", {}):
            self.add_error(field, ValidationError(_("This field is required."), code="required"))
        if data.get("how") == ResetTo.GROUP and data.get("from_group") == self._group:
            self.add_error("from_group", ValidationError(_("This is the same group.")))
        if data.get("partitions") and not data.get("topic") and "topic" not in self.errors:
            self.add_error("topic", ValidationError(_("Choose the topic of these partitions.")))

    def problems(self) -> list[str]:
        """The errors, except of required fields that are still empty."""
        found = [error for errors in self.errors.as_data().values() for error in errors]
        return [text for error in found if error.code != "required" for text in error.messages]

    def reset(self) -> Reset:
        data = self.cleaned_data
        reset_to = ResetTo(data["how"])
        at_ms = 0
        if reset_to == ResetTo.TIME:
            at_ms = milliseconds_of(data["at"]) or 0
        elif reset_to == ResetTo.DURATION:
            at_ms = now_ms() - data["ago"]
        return Reset(
            reset_to=reset_to,
            topic=data["topic"],
            partitions=tuple(data["partitions"]),
            number=data["offset" if reset_to == ResetTo.OFFSET else "shift"] or 0,
            at_ms=max(0, at_ms),
            from_group=data["from_group"] if reset_to == ResetTo.GROUP else "",
            file_offsets=data["file"] or {},
        )


class DeleteOffsetsForm(forms.Form):
    topic = forms.ChoiceField(label=_("Topic"))

    def __init__(self, data: Any, topics: Sequence[str]) -> None:
        super().__init__(data)
        self.fields["topic"].choices = [(name, name) for name in topics]  # type: ignore[attr-defined]


def _parsed(parse: Callable[P, T], *text: P.args, **others: P.kwargs) -> T:
    try:
        return parse(*text, **others)
    except (InvalidInput, InvalidRange) as error:
        raise ValidationError(str(error)) from error

"""The forms that read and search records, and that of masking rules."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from console.records.display_options import DisplayForm
from console.records.masking_rules import WILDCARDS_MAX, wrong_character
from console.records.models import MaskingRule
from console.records.read_records import RecordQuery
from console.records.start_search import SearchQuery
from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX, PARTITION_MAX
from monitoring.records.filters import TEXT_LENGTH_MAX, Condition, FilterInvalid, RecordFilter
from monitoring.records.mask_record import is_target
from monitoring.scope import Scope

FOLLOW = "follow"


class TopicRecordsForm(DisplayForm):
    """A form that reads records of one partition of a topic, or of all. `partitions`: those of the
    topic, empty if they are not known."""

    partition = forms.IntegerField(
        label=_("Partition"), min_value=0, max_value=PARTITION_MAX, required=False
    )

    def __init__(self, data: Mapping[str, Any] | None, partitions: list[int]) -> None:
        super().__init__(data)
        choices = [("", _("All"))] + [(str(n), str(n)) for n in partitions]
        self.fields["partition"].widget = forms.Select(choices=choices)
        self._partitions = partitions

    def clean_partition(self) -> int | None:
        partition: int | None = self.cleaned_data["partition"]
        if partition is not None and self._partitions and partition not in self._partitions:
            raise forms.ValidationError(
                _("This topic has partitions 0 to %(last)d."), params={"last": self._partitions[-1]}
            )
        return partition


class BrowseForm(TopicRecordsForm):
    """What to read: a partition (or all), an offset (or the newest), and the number of records.

    `before` has no widget; the link to older records uses it.
    """

    offset = forms.IntegerField(
        label=_("From offset"), min_value=0, max_value=OFFSET_MAX, required=False
    )
    before = forms.IntegerField(min_value=0, max_value=OFFSET_MAX, required=False)
    since = forms.DateTimeField(label=_("From time (UTC)"), required=False, widget=DateTimeInput())
    key = forms.CharField(
        label=_("Key"),
        max_length=TEXT_LENGTH_MAX,
        required=False,
        strip=False,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    limit = forms.TypedChoiceField(
        label=_("Records"),
        choices=[(n, str(n)) for n in (25, 50, 100, 250)],
        coerce=int,
        empty_value=25,  # type: ignore[arg-type]  # typed as str, but returned without `coerce`
        required=False,
    )

    def __init__(self, data: Mapping[str, Any] | None, partitions: list[int]) -> None:
        super().__init__(data, partitions)
        self.fields["offset"].widget.attrs["placeholder"] = _("newest")

    def clean(self) -> None:
        data = self.cleaned_data
        offset, before = data.get("offset"), data.get("before")
        if offset is not None and self.is_search:
            self.add_error("offset", _("Read from an offset, or by time or key, not both."))
        if offset is not None and before is not None:
            self.add_error("offset", _("Read from an offset or before one, not both."))
        if (offset, before) != (None, None) and "partition" in data and data["partition"] is None:
            if len(self._partitions) == 1:
                data["partition"] = self._partitions[0]
            else:
                self.add_error("partition", _("Choose the partition of this offset."))

    @property
    def is_search(self) -> bool:
        """Whether records are asked for by time or key: the page of the search finds them."""
        return bool(self.cleaned_data.get("since") or self.cleaned_data.get("key"))

    def search_query_string(self) -> str:
        """The query string of SearchForm that finds the same records; from a time on, the oldest
        come first."""
        params = {name: self.data.get(name, "") for name in ("partition", "since")}
        if self.cleaned_data["key"]:
            params |= {"field": "key", "operator": "equals", "text": self.cleaned_data["key"]}
        params["order"] = "oldest" if self.cleaned_data["since"] else "newest"
        found = urlencode({name: value for name, value in params.items() if value})
        return "&".join(filter(None, [found, self.display.query_string]))

    def query(self, topic: str) -> RecordQuery:
        data = self.cleaned_data
        return RecordQuery(
            topic,
            data["partition"],
            data["offset"],
            data["limit"],
            before_offset=data["before"],
            display=self.display,
        )


class SearchForm(TopicRecordsForm):
    """Which records to find: one condition, an expression in CEL, a range of time, the order."""

    field = forms.ChoiceField(
        label=_("Find in"),
        choices=[
            ("any", _("Key, value, header")), ("key", _("Key")), ("value", _("Value")),
            ("header_name", _("Header name")), ("header_value", _("Header value")),
        ],
        required=False,
    )  # fmt: skip
    operator = forms.ChoiceField(
        label=_("Condition"),
        choices=[
            ("contains", _("contains")), ("not_contains", _("does not contain")),
            ("equals", _("equals")), ("matches", _("matches the pattern")),
        ],
        required=False,
    )  # fmt: skip
    text = forms.CharField(label=_("Text"), max_length=TEXT_LENGTH_MAX, required=False, strip=False)
    expression = forms.CharField(
        label=_("CEL expression"),
        max_length=TEXT_LENGTH_MAX,
        required=False,
        widget=forms.TextInput(
            attrs={"placeholder": _("record.value.amount > 100"), "spellcheck": "false"}
        ),
    )
    since = forms.DateTimeField(label=_("Since (UTC)"), required=False, widget=DateTimeInput())
    until = forms.DateTimeField(label=_("Before (UTC)"), required=False, widget=DateTimeInput())
    first_offset = forms.IntegerField(
        label=_("From offset"), min_value=0, max_value=OFFSET_MAX, required=False
    )
    end_offset = forms.IntegerField(
        label=_("Before offset"), min_value=0, max_value=OFFSET_MAX, required=False
    )
    order = forms.ChoiceField(
        label=_("Order"),
        choices=[
            ("newest", _("Newest first")),
            ("oldest", _("Oldest first")),
            (FOLLOW, _("Follow new records")),
        ],
        required=False,
    )
    most = forms.TypedChoiceField(
        label=_("Matches"),
        choices=[(n, str(n)) for n in (100, 500, 2000)],
        coerce=int,
        empty_value=100,  # type: ignore[arg-type]  # typed as str, but returned without `coerce`
        required=False,
    )

    def clean(self) -> None:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since >= until:
            self.add_error("until", _("This must be later than “Since”."))
        first, end = self.cleaned_data.get("first_offset"), self.cleaned_data.get("end_offset")
        if end is not None and end <= (first or 0):
            self.add_error("end_offset", _("This must be above “From offset”, and above 0."))
        has_range = since or until or (first, end) != (None, None)
        if self.cleaned_data.get("order") == FOLLOW and has_range:
            text = _("New records have no range of times or offsets: leave it empty.")
            self.add_error("order", text)
        if self.errors:
            return
        try:
            RecordFilter(self._conditions(), self.cleaned_data["expression"])
        except FilterInvalid as error:
            self.add_error("expression" if self.cleaned_data["expression"] else "text", str(error))

    def _conditions(self) -> tuple[Condition, ...]:
        data = self.cleaned_data
        if not data["text"]:
            return ()
        return (Condition(data["field"] or "any", data["operator"] or "contains", data["text"]),)

    def query(self, topic: str) -> SearchQuery:
        data = self.cleaned_data
        order = data["order"] or "newest"
        return SearchQuery(
            topic,
            data["partition"],
            conditions=self._conditions(),
            expression=data["expression"],
            since_ms=milliseconds_of(data["since"]),
            until_ms=milliseconds_of(data["until"]),
            first_offset=data["first_offset"],
            end_offset=data["end_offset"],
            newest_first=order == "newest",
            matches_max=data["most"],
            follows=order == FOLLOW,
        )


class MaskingRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """A masking rule for the cluster of `instance`."""

    class Meta:
        model = MaskingRule
        fields = ("topic_pattern", "target", "shown_to")

    def __init__(self, *args: Any, scope: Scope, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._scope = scope

    def clean(self) -> None:
        super().clean()
        if self.errors:
            return
        key = {name: self.cleaned_data[name] for name in ("topic_pattern", "target")}
        if MaskingRule.objects.filter(cluster=self.instance.cluster, **key).exists():
            raise forms.ValidationError(
                _("This part of these topics is already masked. Remove that rule to change it.")
            )

    def clean_topic_pattern(self) -> str:
        pattern: str = self.cleaned_data["topic_pattern"].strip()
        if invalid := wrong_character(pattern):
            raise forms.ValidationError(
                _(
                    "Character %(position)d, “%(character)s”, is not allowed. Use letters, digits, "
                    "“.”, “_” and “-”; * matches any characters, ? one character."
                ),
                params={"position": invalid[0], "character": invalid[1]},
            )
        if pattern.count("*") + pattern.count("?") > WILDCARDS_MAX:
            raise forms.ValidationError(
                _("A pattern can have at most %(most)d wildcards (* and ?)."),
                params={"most": WILDCARDS_MAX},
            )
        pattern = re.sub(r"\*+", "*", pattern)
        if not self._scope.shows_topics_of(pattern):
            raise forms.ValidationError(_("Your role does not include these topics."))
        return pattern

    def clean_target(self) -> str:
        target: str = self.cleaned_data["target"].strip()
        if not is_target(target):
            raise forms.ValidationError(
                _("Enter key, value, value.FIELD or headers.NAME, without spaces.")
            )
        return target

"""The forms to create and to purge a topic, to add partitions, and to change the topics selected in
the list. That of a topic's settings is in configure_form.py.

They check what can be checked without the cluster; plans (actions/) check the rest.
"""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.topics.actions.bulk import ConfigureTopics
from console.topics.purge_plans import Purge
from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX
from console.ui.partition_ranges import InvalidRange, partition_numbers
from console.ui.setting_field import units_attrs, with_plain_number
from console.ui.setting_units import unit_of
from monitoring.topic_names import is_topic_name

PARTITIONS_MAX = 10_000
SETTINGS_MAX = 50
SETTING = re.compile(r"[a-z][a-z0-9.]{1,99}")


class CreateTopicForm(forms.Form):
    """`params` returns the parameters of its plan."""

    name = forms.CharField(
        label=_("Name"),
        max_length=249,
        help_text=_("Letters, digits, “.”, “_” and “-”. It cannot be changed later."),
    )
    partitions = forms.IntegerField(
        label=_("Partitions"),
        min_value=1,
        max_value=PARTITIONS_MAX,
        initial=3,
        help_text=_("Can be increased later, but not decreased."),
    )
    replication = forms.IntegerField(
        label=_("Replication factor"),
        min_value=1,
        max_value=100,
        initial=1,
        help_text=_("The number of replicas of each partition."),
    )
    cleanup = forms.ChoiceField(
        label=_("Cleanup policy"),
        choices=[
            ("", _("default of the broker")),
            ("delete", _("delete by age and size")),
            ("compact", _("keep the newest record of each key")),
            ("compact,delete", _("both")),
        ],
        required=False,
    )
    retention_hours = forms.IntegerField(
        label=_("Retention (hours)"),
        min_value=-1,
        max_value=24 * 3650,
        required=False,
        help_text=_("Empty: default of the broker. −1: no limit."),
    )
    settings = forms.CharField(
        label=_("More settings"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", **units_attrs()}),
        help_text=_("One per line, such as “segment.bytes=64 MiB”. The brokers validate them."),
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in (".", ".."):
            raise ValidationError(_("“.” and “..” are not valid topic names."))
        if not is_topic_name(name):
            raise ValidationError(_("Only letters, digits, “.”, “_” and “-” are allowed."))
        return name

    def clean_settings(self) -> dict[str, str]:
        configs = {}
        for line in filter(None, map(str.strip, self.cleaned_data["settings"].splitlines())):
            key, equals, value = (part.strip() for part in line.partition("="))
            if not equals or not SETTING.fullmatch(key):
                raise ValidationError(_("“%(line)s” is not name=value."), params={"line": line})
            if key in configs:
                raise ValidationError(_("“%(key)s” is set twice."), params={"key": key})
            configs[key] = with_plain_number(value, unit_of(key))
        if len(configs) > SETTINGS_MAX:
            raise ValidationError(_("Enter at most %(n)d settings."), params={"n": SETTINGS_MAX})
        return configs

    def clean(self) -> None:
        """Refuse settings that are also set by a field of the form."""
        settings = self.cleaned_data.get("settings") or {}
        for name, key in (("cleanup", "cleanup.policy"), ("retention_hours", "retention.ms")):
            if key in settings and self.cleaned_data.get(name) not in (None, ""):
                text = _("“%(key)s” is already set by “%(field)s” above. Remove one of them.")
                params = {"key": key, "field": self.fields[name].label}
                self.add_error("settings", ValidationError(text, params=params))

    def params(self) -> dict[str, Any]:
        """The parameters of the plan `topic.create`."""
        data = self.cleaned_data
        configs = dict(data["settings"])
        if data["cleanup"]:
            configs["cleanup.policy"] = data["cleanup"]
        hours = data["retention_hours"]
        if hours is not None:
            configs["retention.ms"] = str(-1 if hours < 0 else hours * 3_600_000)
        plan_params = {name: data[name] for name in ("name", "partitions", "replication")}
        return {**plan_params, "configs": configs}


class PurgeForm(forms.Form):
    how = forms.ChoiceField(
        label=_("Delete"),
        choices=[
            ("all", _("All records")),
            ("time", _("Records before a time")),
            ("offset", _("Records before an offset")),
        ],
    )
    at = forms.DateTimeField(
        label=_("Before (UTC)"),
        required=False,
        widget=DateTimeInput(),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        help_text=_("The first record at or after this time is the first that is kept."),
    )
    offset = forms.IntegerField(
        label=_("Before the offset"),
        min_value=0,
        max_value=OFFSET_MAX,
        required=False,
        help_text=_("The record with this offset is the first that is kept."),
    )
    partitions = forms.CharField(
        label=_("Partitions"),
        required=False,
        max_length=1000,
        help_text=_("For example 0-5, 8. Empty: all."),
    )

    def clean_partitions(self) -> list[int]:
        try:
            return partition_numbers(self.cleaned_data["partitions"])
        except InvalidRange as error:
            raise ValidationError(str(error)) from error

    def clean(self) -> None:
        """The field that belongs to the chosen way is required."""
        field = {"time": "at", "offset": "offset"}.get(self.cleaned_data.get("how", ""))
        if field and field not in self.errors and self.cleaned_data.get(field) is None:
            self.add_error(field, ValidationError(_("This field is required.")))

    def purge(self) -> Purge:
        data = self.cleaned_data
        before_ms = None
        if data["how"] == "time":
            before_ms = max(0, milliseconds_of(data["at"]) or 0)
        return Purge(
            before_offset=data["offset"] if data["how"] == "offset" else None,
            before_ms=before_ms,
            partitions=tuple(data["partitions"]),
        )


class SelectionForm(forms.Form):
    """A change to the topics that were selected in the list."""

    setting = forms.CharField(
        label=_("Setting"),
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text=_("For example retention.ms."),
    )
    value = forms.CharField(
        label=_("Value"),
        required=False,
        max_length=5000,
        widget=forms.TextInput(attrs=units_attrs(of="setting")),
        help_text=_(
            "The brokers validate it for each topic. A duration or size may have a unit: 7d, 1 GiB."
        ),
    )
    use_default = forms.BooleanField(label=_("Use the default instead of a value"), required=False)

    def __init__(self, data: Any, action: str) -> None:
        super().__init__(data)
        if action != ConfigureTopics.action:
            self.fields.clear()

    def clean_setting(self) -> str:
        name = str(self.cleaned_data["setting"]).strip()
        if not SETTING.fullmatch(name):
            raise ValidationError(_("Enter the name of a setting, such as retention.ms."))
        return name

    def clean_value(self) -> str:
        unit = unit_of(self.cleaned_data.get("setting", ""))
        return with_plain_number(self.cleaned_data["value"].strip(), unit)

    def configs(self) -> dict[str, str | None]:
        data = self.cleaned_data
        if not data:
            return {}
        return {data["setting"]: None if data["use_default"] else data["value"]}


class AddPartitionsForm(forms.Form):
    total = forms.IntegerField(
        label=_("New number of partitions"),
        min_value=2,
        max_value=PARTITIONS_MAX,
        help_text=_("The total after the change, not how many to add."),
    )

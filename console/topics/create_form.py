"""The form of a new topic; `params` returns the parameters of its plan."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.topics.forms import PARTITIONS_MAX, SETTING
from console.ui.setting_field import units_attrs, with_plain_number
from console.ui.setting_units import unit_of
from monitoring.topic_names import is_topic_name

SETTINGS_MAX = 50


class CreateTopicForm(forms.Form):
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

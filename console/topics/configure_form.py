"""The form of a topic's settings: a field for each, with the value at its opening.

A hidden field repeats the value at opening. If the cluster has another one when the form is sent,
the form is shown again and says so. So nobody overwrites another user's change without seeing it.
Values are judged in actions/configure.py.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from console.topics import setting_catalog
from console.ui.setting_field import VALUE_LENGTH_MAX, SettingField
from console.ui.setting_texts import TOPIC_SOURCE, meaning, source_text
from console.ui.setting_units import unit_of
from monitoring.gateway.config_value import ConfigValue

_RESET, _OPENED = "default:", "opened:"


class ConfigureForm(forms.Form):
    """The settings of a topic; for a setting `x` the fields `x`, `default:x` (use the default) and
    `opened:x` (the value at opening)."""

    def __init__(self, data: Any, entries: Iterable[ConfigValue]) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self.editable = {
            name: entry
            for name, entry in self.entries.items()
            if not (entry.is_sensitive or entry.is_read_only)
        }
        self.changed_meanwhile = _changed_meanwhile(data or {}, self.editable)
        super().__init__(data)
        for name, entry in self.editable.items():
            self.fields[name] = SettingField(
                label=name,
                unit=unit_of(name),
                initial=entry.value or "",
                required=False,
                max_length=VALUE_LENGTH_MAX,
                widget=_widget(name, entry.value or ""),
            )

    def clean(self) -> None:
        names = {name.removeprefix(_RESET) for name in self.data} & self.entries.keys()
        if locked := sorted(names - self.editable.keys()):
            raise ValidationError(
                _("“%(name)s” is read-only or sensitive. It cannot be changed here."),
                params={"name": locked[0]},
            )
        if self.changed_meanwhile:
            lines = [
                _("“%(name)s” was “%(opened)s” and is “%(value)s” now.")
                % {"name": name, "opened": opened, "value": self.entries[name].value or ""}
                for name, opened in self.changed_meanwhile.items()
            ]
            text = _("Somebody else changed settings since you opened this form. %(lines)s")
            again = _("Your own changes are kept below: check them and send the form again.")
            raise ValidationError(f"{text % {'lines': ' '.join(lines)}} {again}")
        if not self.errors and not self.configs():
            raise ValidationError(_("Change at least one setting."))

    def configs(self) -> dict[str, str | None]:
        """The changed settings; None = use the default. A setting that was not posted stays."""
        changed: dict[str, str | None] = {}
        for name, entry in self.editable.items():
            if _RESET + name in self.data and entry.source == TOPIC_SOURCE:
                changed[name] = None
            elif name in self.data and self.cleaned_data[name] != (entry.value or ""):
                changed[name] = self.cleaned_data[name]
        return changed

    def sections(self) -> list[tuple[Any, list[dict[str, Any]]]]:
        """(title, rows) for the page, in the order of the catalog.

        Settings that cannot be edited are rows, too.
        """
        rows: dict[Any, list[dict[str, Any]]] = {
            section: [] for section in setting_catalog.SECTIONS
        }
        known = [name for name in setting_catalog.SETTINGS if name in self.entries]
        for name in [*known, *sorted(self.entries.keys() - set(known))]:
            rows[setting_catalog.setting_info(name).section].append(
                self._row(name, self.entries[name])
            )
        return [(section, found) for section, found in rows.items() if found]

    def _row(self, name: str, entry: ConfigValue) -> dict[str, Any]:
        info = setting_catalog.setting_info(name)
        is_own = entry.source == TOPIC_SOURCE
        return {
            "name": name,
            "entry": entry,
            "doc": info.text,
            "field": self._field(name) if name in self.editable else None,
            "meaning": meaning(name, entry.value),
            "source": source_text(entry.source),
            "is_own": is_own,
            "inherited": entry.inherited if is_own else None,
            "inherited_meaning": meaning(name, entry.inherited) if is_own else "",
            "opened_name": _OPENED + name,
            "reset_name": _RESET + name,
            "is_reset": _RESET + name in self.data,
            "suggestions": [(value, meaning(name, value) or value) for value in info.suggestions],
        }

    def _field(self, name: str) -> forms.BoundField:
        """The field; if only somebody else changed the setting, with the new value."""
        if self.changed_meanwhile.get(name) == self.data.get(name):
            return _CurrentValueField(self, self.fields[name], name)
        return self[name]


class _CurrentValueField(forms.BoundField):
    """Shows the current value of the cluster instead of what was posted."""

    def value(self) -> Any:
        return self.initial


def _changed_meanwhile(data: Any, editable: dict[str, ConfigValue]) -> dict[str, str]:
    """The values at opening of the settings that have another value now."""
    return {
        name: data[_OPENED + name]
        for name, entry in editable.items()
        if _OPENED + name in data and data[_OPENED + name] != (entry.value or "")
    }


def _widget(name: str, value: str) -> forms.Widget:
    info = setting_catalog.setting_info(name)
    attrs = {"aria-describedby": f"id_{name}_helptext"} if info.text else {}
    if not info.choices:
        attrs |= {"class": "form-control mono", "spellcheck": "false", "autocomplete": "off"}
        return forms.TextInput(attrs=attrs)
    # Brokers also accept values such as "delete,compact": the present one is always there.
    choices = info.choices if value in info.choices else (value, *info.choices)
    return forms.Select({**attrs, "class": "form-select"}, [(each, each) for each in choices])

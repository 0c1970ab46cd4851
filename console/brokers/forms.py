"""The forms of a broker: the level of a logger, and the value of a setting."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.ui.setting_field import SettingField
from console.ui.setting_units import Unit

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
THIS_BROKER, ALL_BROKERS = "this", "all"
_UNIT_HINTS = {
    Unit.MS: _("A number may have a unit: 7d, 36h, 90 min."),
    Unit.BYTES: _("A number may have a unit: 1 GiB, 500MB."),
}


class LogLevelForm(forms.Form):
    level = forms.ChoiceField(
        label=_("New level"),
        choices=[(level, level) for level in LEVELS],
        help_text=_("It holds until the broker restarts."),
    )


class BrokerSettingForm(forms.Form):
    is_removed = forms.BooleanField(
        label=_("Remove the dynamic value"),
        required=False,
        help_text=_("Then the value of the broker’s file or the default applies."),
    )
    applies_to = forms.ChoiceField(
        label=_("Applies to"),
        choices=[(THIS_BROKER, _("this broker")), (ALL_BROKERS, _("all brokers"))],
    )

    def __init__(self, data: Any, unit: Unit | None) -> None:
        """`unit`: that of the setting's value."""
        super().__init__(data)
        self.fields["value"] = SettingField(
            label=_("New value"),
            required=False,
            max_length=5000,
            unit=unit,
            help_text=_UNIT_HINTS[unit] if unit else "",
        )

    def clean(self) -> None:
        data = self.cleaned_data
        if "value" not in self.errors and not data.get("is_removed") and not data.get("value"):
            self.add_error("value", ValidationError(_("Enter a value, or remove the setting.")))

    def params(self, broker: int, name: str) -> dict[str, Any]:
        """The parameters of the plan `broker.configure`."""
        data = self.cleaned_data
        value = None if data["is_removed"] else data["value"]
        for_all = data["applies_to"] == ALL_BROKERS
        return {"broker": broker, "for_all": for_all, "configs": {name: value}}

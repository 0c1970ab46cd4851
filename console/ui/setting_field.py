"""The form field of a setting's value; numbers may have units (setting_units.py)."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse_lazy

from console.ui.setting_units import InvalidQuantity, Unit, plain_number

VALUE_LENGTH_MAX = 5000


class SettingField(forms.CharField):
    """Takes "7d" for a setting in milliseconds, and cleans to the plain number.

    The initial value is kept as it is. While a value with a unit is typed,
    `static/app/unit-hints.js` shows its conversion; without JavaScript the review shows it.
    """

    def __init__(self, *args: Any, unit: Unit | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unit = unit
        if unit is not None:
            self.widget.attrs |= units_attrs(unit=unit)

    def clean(self, value: Any) -> str:
        text = str(super().clean(value))
        if self.unit is None or text == self.initial:
            return text
        return with_plain_number(text, self.unit)


def with_plain_number(text: str, unit: Unit | None) -> str:
    """The text with a plain number in place of a unit. Raises ValidationError."""
    try:
        return text if unit is None else plain_number(text, unit)
    except InvalidQuantity as error:
        raise ValidationError(str(error)) from error


def units_attrs(**data: str) -> dict[str, Any]:
    """The attributes of a widget whose values may have units, for static/app/unit-hints.js.

    `unit`: that of the value; `of`: the field that has the setting's name; without both, the lines
    are name=value.
    """
    attrs = {f"data-units-{name}": str(value) for name, value in data.items()}
    return {"data-units": reverse_lazy("units"), **attrs}

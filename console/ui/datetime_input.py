"""The input for a date with a time in forms, in UTC."""

from datetime import datetime
from typing import Any

from django import forms


class DateTimeInput(forms.DateTimeInput):
    """The widget of a date with a time, to the second; with `milliseconds` to the millisecond."""

    input_type = "datetime-local"

    def __init__(self, *, milliseconds: bool = False) -> None:
        step, fraction = ("0.001", ".%f") if milliseconds else ("1", "")
        super().__init__(attrs={"step": step}, format=f"%Y-%m-%dT%H:%M:%S{fraction}")

    def format_value(self, value: Any) -> str | None:
        text = super().format_value(value)
        if isinstance(value, datetime) and text and "." in text:
            return text[:-3]  # milliseconds, not microseconds
        return text


def milliseconds_of(moment: datetime | None) -> int | None:
    """The moment in milliseconds since 1970; None stays None."""
    return None if moment is None else round(moment.timestamp() * 1000)

"""Durations and sizes with units, as users type them for settings: "7d", "90 min", "1 GiB". Pure.

Kafka takes plain numbers of milliseconds or bytes. Units of sizes are decimal (1 MB = 1000 kB) or
binary (1 MiB = 1024 KiB); capitals do not matter.
"""

import re
from enum import StrEnum
from fractions import Fraction

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import numbers

NUMBER_MAX = 2**63 - 1


class Unit(StrEnum):
    """The unit of a setting's value."""

    MS = "ms"
    BYTES = "bytes"


class InvalidQuantity(Exception):
    """The text is no number with a known unit; the message says what to type."""


# (factor, the unit as it is shown, other ways to type it)
_UNITS: dict[Unit, tuple[tuple[int, str, tuple[str, ...]], ...]] = {
    Unit.MS: (
        (1, "ms", ("millisecond", "milliseconds")),
        (1000, "s", ("sec", "second", "seconds")),
        (60_000, "min", ("m", "mins", "minute", "minutes")),
        (3_600_000, "h", ("hour", "hours")),
        (86_400_000, "d", ("day", "days")),
        (7 * 86_400_000, "w", ("week", "weeks")),
    ),
    Unit.BYTES: (
        (1, "B", ("byte", "bytes")),
        *((1000**power, unit, ()) for power, unit in enumerate(("kB", "MB", "GB", "TB"), 1)),
        *((1024**power, unit, ()) for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), 1)),
    ),
}
_BY_NAME = {
    unit: {
        name.lower(): (factor, shown) for factor, shown, names in rows for name in (shown, *names)
    }
    for unit, rows in _UNITS.items()
}
_QUANTITY = re.compile(r"(\d{1,19}(?:\.\d{1,9})?)\s*([a-z]+)", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[+-]?\d+", re.ASCII)
_DOCUMENTED = re.compile(r"\b(?:in|of) (milliseconds|bytes)\b|\((bytes)/sec\)", re.IGNORECASE)
_OTHER_UNITS = ("seconds", "minutes", "hours", "messages")


def unit_of(setting: str, documentation: str = "") -> Unit | None:
    """The unit of a setting: the last part of its name, else what its documentation says, else
    None."""
    last = setting.rpartition(".")[2]
    if last in tuple(Unit):
        return Unit(last)
    found = None if last in _OTHER_UNITS else _DOCUMENTED.search(documentation)
    if found is None:
        return None
    return Unit.BYTES if (found[1] or found[2]).lower() == "bytes" else Unit.MS


def plain_number(text: str, unit: Unit) -> str:
    """The number for Kafka: 7d → 604800000. A plain number stays; an empty text, too.

    Raises InvalidQuantity.
    """
    text = text.strip()
    if not text or _PLAIN.fullmatch(text):
        return text
    return str(number_with_unit(text, unit))


def number_with_unit(text: str, unit: Unit) -> int:
    """The number of milliseconds or bytes of a text with a unit. Raises InvalidQuantity."""
    return _parsed(text.strip(), unit)[0]


def conversion_text(text: str, unit: Unit) -> str:
    """A number with a unit, converted: 7d → "7 days = 604 800 000 ms"; "" for a plain number.

    Raises InvalidQuantity.
    """
    text = text.strip()
    if not text or _PLAIN.fullmatch(text):
        return ""
    number, typed = _parsed(text, unit)
    params = {"typed": typed, "n": numbers.count(number)}
    if unit == Unit.MS:
        return _("%(typed)s = %(n)s ms") % params
    return _("%(typed)s = %(n)s bytes") % params


def conversion_of_lines(text: str) -> str:
    """The conversions of lines of name=value. Raises InvalidQuantity, which names the setting."""
    found = []
    for line in text.splitlines():
        name, _equals, value = (part.strip() for part in line.partition("="))
        unit = unit_of(name)
        try:
            if unit and (shown := conversion_text(value, unit)):
                found.append(f"{name}: {shown}")
        except InvalidQuantity as error:
            raise InvalidQuantity(f"{name}: {error}") from error
    return " · ".join(found)


def _parsed(text: str, unit: Unit) -> tuple[int, str]:
    """The number, and the text with the unit as it is shown."""
    found = _QUANTITY.fullmatch(text)
    factor, shown = _BY_NAME[unit].get(found[2].lower(), (0, "")) if found else (0, "")
    if found is None or not factor:
        raise InvalidQuantity(_invalid_text(text, unit))
    number = Fraction(found[1]) * factor
    if number.denominator != 1:
        broken = _("“%(text)s” is not a whole number of bytes.")
        if unit == Unit.MS:
            broken = _("“%(text)s” is not a whole number of milliseconds.")
        raise InvalidQuantity(broken % {"text": text})
    if number > NUMBER_MAX:
        raise InvalidQuantity(_("“%(text)s” is too large.") % {"text": text})
    return int(number), _with_unit(found[1], shown)


def _invalid_text(text: str, unit: Unit) -> str:
    """Why the text is no duration or size, and what to type."""
    if unit == Unit.MS:
        explained = _(
            "“%(text)s” is no duration. Enter milliseconds, or a number with ms, s, min, h, d or "
            "w, for example 7d, 36h or 90 min."
        )
    else:
        explained = _(
            "“%(text)s” is no size. Enter bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB "
            "or TiB, for example 1 GiB or 500MB."
        )
    return explained % {"text": text[:40]}


def _with_unit(number: str, unit: str) -> str:
    """The number with its unit, for example "7 days" or "1 GiB"."""
    count = 1 if number == "1" else 2  # also of 1.5 and 0
    if unit == "d":
        return ngettext("%(n)s day", "%(n)s days", count) % {"n": number}
    if unit == "w":
        return ngettext("%(n)s week", "%(n)s weeks", count) % {"n": number}
    return f"{number} {unit}"

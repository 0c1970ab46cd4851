"""Formats figures: one format for each kind, and "—" for unknown values.

An incomplete sum (monitoring/partial_sum.py) has "≥" before it.
"""

from collections.abc import Callable
from functools import wraps

from monitoring.partial_sum import PartialSum

UNKNOWN = "—"
_THIN = "\u202f"  # narrow no-break space between thousands

Figure = float | PartialSum | None  # None = unknown


def _accepts_figure(write: Callable[[float], str]) -> Callable[[Figure], str]:
    """The function that formats a Figure with `write`, which formats a number."""

    @wraps(write)
    def written(value: Figure) -> str:
        if isinstance(value, PartialSum):
            at_least = "≥ " if value.is_partial else ""
            return at_least + written(value.value)
        return UNKNOWN if value is None else write(value)

    return written


@_accepts_figure
def count(value: float) -> str:
    """A whole number in full: 1234567 → 1 234 567."""
    return f"{round(value):,}".replace(",", _THIN)


@_accepts_figure
def short(value: float) -> str:
    """A number in at most four digits and a suffix: 1234567 → 1.23 M."""
    return _scaled(value, 1000, ("", "k", "M", "G", "T"))


@_accepts_figure
def size(value: float) -> str:
    """Bytes in binary units: 1536 → 1.5 KiB."""
    return _scaled(value, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


@_accepts_figure
def rate(value: float) -> str:
    """A count per second: 12.345 → 12.3/s, of offsets that went back −12.3/s."""
    if 0 < value < 0.005:
        return "< 0.01/s"
    return f"{'−' if value < 0 else ''}{short(abs(value))}/s"


@_accepts_figure
def change_rate(value: float) -> str:
    """A growth per second with its sign: 12.345 → +12.3/s."""
    text = f"{short(abs(value))}/s"
    sign = "±" if text == rate(0) else "+" if value > 0 else "−"
    return f"{sign}{text}"


@_accepts_figure
def size_rate(value: float) -> str:
    return f"{size(value)}/s"


@_accepts_figure
def latency(ms: float) -> str:
    """Milliseconds in a unit that fits: 0.05 → 50 µs, 1234 → 1.23 s."""
    return _scaled(ms * 1000, 1000, ("µs", "ms", "s"))


@_accepts_figure
def percent(share: float) -> str:
    """A ratio as a percentage: 0.256 → 25.6 %."""
    return f"{share * 100:.1f}{_THIN}%"


def _scaled(value: float, base: int, units: tuple[str, ...]) -> str:
    sign, value, unit = "-" if value < 0 else "", abs(float(value)), 0
    # Use the next unit if rounding to three digits would give "1000".
    while value >= base * 0.9995 and unit < len(units) - 1:
        value /= base
        unit += 1
    if value >= 100 or (unit == 0 and value == int(value)):
        digits = f"{value:.0f}"
    elif value >= 10:
        digits = f"{value:.1f}"
    else:
        digits = f"{value:.2f}"
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return sign + digits + (f"{_THIN}{units[unit]}" if units[unit] else "")

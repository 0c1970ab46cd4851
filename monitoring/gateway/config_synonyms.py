"""The values of a setting's synonyms in the unit of the setting. Pure.

Kafka reports `log.retention.hours=168` as a synonym of `retention.ms`.
"""

_UNITS_MS = {".ms": 1, ".minutes": 60_000, ".hours": 3_600_000}


def value_in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    """The value of `synonym` as `name` would have it: in milliseconds, if `name` is in these."""
    unit_ms = next((ms for suffix, ms in _UNITS_MS.items() if synonym.endswith(suffix)), 1)
    if value is None or unit_ms == 1 or not name.endswith(".ms"):
        return value
    number = value.removeprefix("-")
    if not number.isdecimal():
        return value
    return value if value.startswith("-") else str(int(number) * unit_ms)  # -1 = without limit

"""The values of a setting's synonyms in the unit of the setting. Pure.

Kafka reports `log.retention.hours=168` as a synonym of `retention.ms`.
"""

_UNITS_MS = {".minutes": 60_000, ".hours": 3_600_000}


def value_in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    """The value of `synonym` as `name` would have it: in milliseconds, if `name` is in these. -1
    (without limit) stays."""
    for suffix, unit_ms in _UNITS_MS.items():
        if name.endswith(".ms") and synonym.endswith(suffix) and value and value.isdecimal():
            return str(int(value) * unit_ms)
    return value

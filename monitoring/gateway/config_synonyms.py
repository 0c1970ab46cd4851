"""The values of a setting's synonyms in the unit of the setting. Pure.

Kafka reports `log.retention.hours=168` as a synonym of `retention.ms`.
"""

_UNITS_MS = {".minutes": 60_000, ".hours": 3_600_000}


def value_in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    """The value of `synonym` in the unit of the setting `name`: in milliseconds if that ends in
    `.ms`. -1 (no limit) is not converted."""
    for suffix, unit_ms in _UNITS_MS.items():
        if name.endswith(".ms") and synonym.endswith(suffix) and value and value.isdecimal():
            return str(int(value) * unit_ms)
    return value

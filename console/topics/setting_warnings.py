"""Warnings about changes of a topic's settings, for the review. Pure."""

import math
from collections.abc import Mapping

from django.utils.translation import gettext as _

_RETENTION = ("retention.ms", "retention.bytes")


def retention_warnings(
    before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> list[str]:
    """What a smaller retention deletes. Setting → its value in effect, before and after."""
    text = _(
        "With cleanup.policy=delete, records beyond the new “%(name)s” are deleted soon after the "
        "change. The undo does not bring them back."
    )
    return [
        text % {"name": name}
        for name in _RETENTION
        if name in after and _limit(after[name]) < _limit(before.get(name))
    ]


def _limit(value: str | None) -> float:
    """A limit as a number; infinite for −1 (none), and if the value is not known."""
    return float(value) if value and value.isdigit() else math.inf

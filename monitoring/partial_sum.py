"""A sum of the parts that are known, with the number of those that are not. Pure.

Pages never show it as a complete sum: they show "≥ 1 234" with the number of unknown parts
(console/ui/numbers.py, the filters of console/ui/templatetags/ui.py), "—" if all parts are unknown,
and a gap in a chart.
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


@dataclass(frozen=True, slots=True)
class PartialSum:
    """`value`: the sum of the known parts; None if no part is known.

    `missing` of `total` parts are not included. `has_unseen_parts`: there may be more parts. For a
    lag, `ahead` partitions count as 0, since their commits are beyond their ends, by `ahead_by` in
    total.
    """

    value: float | None = None
    missing: int = 0
    total: int = 0
    unit: str = "partitions"  # or "replicas", "brokers"
    has_unseen_parts: bool = False
    ahead: int = 0
    ahead_by: int = 0

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def is_partial(self) -> bool:
        return self.value is not None and (self.missing > 0 or self.has_unseen_parts)

    @property
    def as_integer(self) -> int | None:
        """The value as an integer, for storage; None if it is unknown."""
        return None if self.value is None else int(self.value)

    @property
    def value_if_complete(self) -> float | None:
        """The value, if no part is missing."""
        return None if self.is_partial else self.value

    @property
    def missing_note(self) -> str:
        """A text about the missing parts; empty if there are none."""
        sentences = []
        if self.missing:
            sentences.append(self._missing_sentence() % {"n": self.missing, "of": self.total})
        if self.has_unseen_parts:
            sentences.append(_("Groups of coordinators that do not answer are not included."))
        return " ".join(sentences)

    def _missing_sentence(self) -> str:
        if self.unit == "replicas":
            return ngettext(
                "%(n)d of %(of)d replicas is not known.",
                "%(n)d of %(of)d replicas are not known.",
                self.missing,
            )
        if self.unit == "brokers":
            return ngettext(
                "%(n)d of %(of)d brokers is not known.",
                "%(n)d of %(of)d brokers are not known.",
                self.missing,
            )
        return ngettext(
            "%(n)d of %(of)d partitions is not known.",
            "%(n)d of %(of)d partitions are not known.",
            self.missing,
        )

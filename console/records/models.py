"""The masking rules of each cluster."""

from fnmatch import fnmatchcase

from django.db import models
from django.utils.translation import gettext_lazy as _


class ShownTo(models.TextChoices):
    """Who sees unmasked what a rule masks, from the most users to the fewest."""

    OPERATORS = "operator", _("Operators and admins")
    ADMINS = "admin", _("Admins")
    NOBODY = "nobody", _("Nobody")


# The right to see unmasked what a rule masks; nobody has it for `NOBODY`.
UNMASK_VERBS = {
    ShownTo.OPERATORS: "record.unmask_for_operators",
    ShownTo.ADMINS: "record.unmask",
}


class MaskingRule(models.Model):
    """A rule: the target to mask in records of matching topics, on one cluster, and for whom."""

    cluster = models.ForeignKey("monitoring.Cluster", on_delete=models.CASCADE)
    topic_pattern = models.CharField(
        _("Topics"),
        max_length=249,
        help_text=_("A topic name; * matches any characters, ? one character."),
    )
    target = models.CharField(
        _("Part to mask"),
        max_length=200,
        help_text=_("key, value, value.FIELD (of a JSON value) or headers.NAME"),
    )
    shown_to = models.CharField(
        _("Who sees it unmasked"), max_length=8, choices=ShownTo.choices, default=ShownTo.ADMINS
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("topic_pattern", "target")
        constraints = [
            models.UniqueConstraint(
                fields=("cluster", "topic_pattern", "target"), name="one_masking_rule_of_a_kind"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic_pattern}: {self.target}"

    def masks(self, topic: str) -> bool:
        return fnmatchcase(topic, self.topic_pattern)

    @property
    def unmask_verb(self) -> str | None:
        """The right that lifts the rule; None if nobody has it."""
        return UNMASK_VERBS.get(ShownTo(self.shown_to))

    @property
    def strictness(self) -> int:
        """Higher if fewer users see the data."""
        return ShownTo.values.index(self.shown_to)

"""The masking rules of each cluster."""

from fnmatch import fnmatchcase

from django.db import models
from django.utils.translation import gettext_lazy as _


class MaskingRule(models.Model):
    """A rule: the target to mask in records of matching topics, on one cluster."""

    cluster = models.ForeignKey("monitoring.Cluster", on_delete=models.CASCADE)
    topic_pattern = models.CharField(
        _("topics"), max_length=249, help_text=_("A topic's name; * stands for anything.")
    )
    target = models.CharField(
        _("what to cover"),
        max_length=200,
        help_text=_("key, value, value.member.of.json or headers.NAME"),
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

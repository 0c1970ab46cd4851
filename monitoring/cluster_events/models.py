"""The database rows of what happened in a cluster: a row for each event, written once.

Of the rebalances of a group on a day (UTC) only the newest have rows; one row counts the others.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.storable_names import NAME_LENGTH_MAX


class ClusterEvent(models.Model):
    """A rebalance of the group `name`, or the broker with the id `name` left or came back.

    The sampler saw it in `tick`. A rebalance has the numbers of members before and after it, and
    of the partitions that have another owner. A row of the kind EARLIER_REBALANCES stands for
    `count` rebalances of one day, with the tick and time of the last of them.
    """

    class Kind(models.TextChoices):
        REBALANCE = "rebalance", _("Rebalance")
        EARLIER_REBALANCES = "rebalances", _("Earlier rebalances")
        BROKER_LEFT = "broker_left", _("Broker left")
        BROKER_BACK = "broker_back", _("Broker is back")

    cluster = models.ForeignKey("monitoring.Cluster", models.CASCADE, related_name="events")
    tick = models.BigIntegerField()
    at_ms = models.BigIntegerField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    members_before = models.PositiveIntegerField(null=True)
    members = models.PositiveIntegerField(null=True)
    moved = models.PositiveIntegerField(null=True)
    count = models.PositiveIntegerField(null=True)

    class Meta:
        app_label = "monitoring"
        ordering = ["-at_ms", "-id"]
        indexes = [
            models.Index(fields=["cluster", "-at_ms"], name="event_by_cluster"),
            models.Index(fields=["cluster", "kind", "name", "-at_ms"], name="event_by_name"),
        ]
        constraints = [
            # A tick that two workers compare is written once.
            models.UniqueConstraint(
                fields=["cluster", "tick", "kind", "name"], name="one_row_of_an_event"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.name}"

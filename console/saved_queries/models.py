"""The queries that users saved."""

from django.conf import settings
from django.db import models

NAME_LENGTH_MAX = 80
QUERY_LENGTH_MAX = 2000


class SavedQuery(models.Model):
    """The query string of a page, saved under a name.

    `page` is a key of PAGES (pages.py). `topic` is empty unless the page is one of a topic.
    """

    cluster = models.ForeignKey("monitoring.Cluster", on_delete=models.CASCADE)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    page = models.CharField(max_length=40)
    topic = models.CharField(max_length=249, blank=True)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    query = models.CharField(max_length=QUERY_LENGTH_MAX)
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "pk")
        constraints = [
            models.UniqueConstraint(
                fields=("cluster", "owner", "page", "topic", "name"),
                name="one_saved_query_of_a_name",
            )
        ]

    def __str__(self) -> str:
        return self.name

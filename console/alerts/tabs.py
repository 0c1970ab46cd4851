"""The tabs of the alert pages."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from monitoring.models import Cluster


def alert_tabs(cluster: Cluster, active: str, **counts: int) -> list[dict[str, Any]]:
    """The tabs for `{% tabs %}`; `counts`: URL name → number to show."""
    titles = {
        "alerts": _("Alerts"),
        "alert-rules": _("Rules"),
        "alert-deliveries": _("Deliveries"),
    }
    slug = cluster.slug
    return [
        {"title": title, "url": reverse(name, args=[slug]), "active": name == active}
        | ({"count": counts[name.replace("-", "_")]} if name.replace("-", "_") in counts else {})
        for name, title in titles.items()
    ]

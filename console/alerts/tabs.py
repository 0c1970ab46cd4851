"""The tabs of the alert pages."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from monitoring.models import Cluster


def alert_tabs(cluster: Cluster, active: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The tabs for `{% tabs %}`; `active`: a URL name; `counts`: URL name → number to show."""
    titles = {
        "alerts": _("Alerts"),
        "alert-rules": _("Rules"),
        "alert-deliveries": _("Deliveries"),
    }
    slug = cluster.slug
    return [
        {"title": title, "url": reverse(name, args=[slug]), "active": name == active}
        | ({"count": counts[name]} if name in counts else {})
        for name, title in titles.items()
    ]

"""`{% saved_queries "topics" %}`: the menu of saved queries of a page."""

from typing import Any

from django import template

from console.accounts.request_types import ClusterRequest
from console.saved_queries import services
from console.saved_queries.links import query_url
from console.saved_queries.models import NAME_LENGTH_MAX
from console.saved_queries.pages import saved_part

register = template.Library()


@register.inclusion_tag("saved_queries/dropdown.html", takes_context=True)
def saved_queries(context: template.Context, page: str, topic: str = "") -> dict[str, Any]:
    """The saved queries of the page, and a form that saves the one that is shown."""
    request: ClusterRequest = context["request"]
    rows = services.visible(request.principal, request.cluster, page, topic)
    shown = saved_part(request.GET.urlencode()) or ""
    slug = request.cluster.slug
    return {
        "slug": slug,
        "page": page,
        "topic": topic,
        "shown": shown,
        "queries": [
            {
                "row": row,
                "url": query_url(slug, row),
                "is_shown": row.query == shown,
                "is_own": row.owner_id == request.user.pk,
                "may_change": services.may_change(request.principal, request.cluster, row),
            }
            for row in rows
        ],
        "may_share": request.rights.may("query.share"),
        "name_length_max": NAME_LENGTH_MAX,
        "csrf_token": context.get("csrf_token"),
    }

"""The URLs of pages with saved queries."""

from django.urls import reverse

from console.saved_queries.models import SavedQuery


def page_url(slug: str, page: str, topic: str = "") -> str:
    """The URL of a page with saved queries; `page`: a key of PAGES."""
    return reverse(page, args=[slug, topic] if topic else [slug])


def query_url(slug: str, row: SavedQuery) -> str:
    return f"{page_url(slug, row.page, row.topic)}?{row.query}"

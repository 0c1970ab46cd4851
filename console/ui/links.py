"""Links to topics and groups, whose names can be any text.

A name is a link only if its page can be opened: a topic must have a valid name and exist, and the
URL of a group must not be too long for servers. Otherwise the name is plain text. Long names are
truncated. Names are isolated (`bdi`), so that right-to-left names do not affect the text after
them.
"""

from collections.abc import Collection
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from monitoring.topic_names import is_topic_name

NAME_LENGTH_SHOWN = 249
URL_LENGTH_MAX = 4000  # the URL of a live page's socket contains the group, too


def name_shown(name: Any) -> SafeString:
    """A name as HTML text, shortened; one without visible letters is put in quotation marks."""
    text = "" if name is None else str(name)
    shortened = text if len(text) <= NAME_LENGTH_SHOWN else text[:NAME_LENGTH_SHOWN] + "…"
    is_visible = any(letter.isprintable() and not letter.isspace() for letter in shortened)
    return format_html(
        "<bdi>{}</bdi>", shortened if is_visible else _("“%(name)s”") % {"name": shortened}
    )


def topic_link(
    slug: str,
    name: str,
    existing: Collection[str] | None = None,
    page: str = "topic",
    text: Any = None,
) -> SafeString:
    """The topic as a link to one of its pages, or as text.

    `existing`: the existing topics; needed if the name comes from an assignment or a commit.
    `text` is shown instead of the name.
    """
    link_text = name_shown(name) if text is None else format_html("{}", text)
    if not is_topic_name(name) or (existing is not None and name not in existing):
        return link_text
    return format_html('<a href="{}">{}</a>', reverse(page, args=[slug, name]), link_text)


def group_link(slug: str, name: str) -> SafeString:
    """The group as a link, or as text."""
    url = group_url(slug, name)
    return format_html('<a href="{}">{}</a>', url, name_shown(name)) if url else name_shown(name)


def group_url(slug: str, name: str) -> str:
    """The page of the group; empty if its name is too long for a URL."""
    url = reverse("group", args=[slug, name])
    return url if len(url) <= URL_LENGTH_MAX else ""

"""The components of templates/ui/ as template tags, built in to every template.

`/ui` shows each of them in all its states. Tags that draw something return a template's context;
filters write a figure (console/ui/numbers.py). None of them writes an inline style or script.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import template
from django.forms import BoundField
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import links, numbers, sparkline
from console.ui.table_query import TableQuery
from monitoring.clock import now_ms
from monitoring.views.partial_sum import PartialSum

register = template.Library()


def ahead(lag: Any) -> SafeString:
    """What stands beside a sum of lags, some of which are negative: a plain 0 would hide them."""
    text = ngettext(
        "%(n)d partition ahead by %(by)s", "%(n)d partitions ahead by %(by)s", lag.ahead
    )
    return format_html(
        '<span class="ahead" title="{}">{}</span>',
        _(
            "committed beyond the end, and counted as 0: the topic was deleted and created again "
            "or its log was cut"
        ),
        text % {"n": lag.ahead, "by": numbers.count(lag.ahead_by)},
    )


def _told(write: Callable[[numbers.Figure], str]) -> Callable[[numbers.Figure], str]:
    """A figure; that of a sum says in its title what is not in it, and beside it what is ahead."""

    @wraps(write)
    def told(value: numbers.Figure) -> str:
        text = write(value)
        if isinstance(value, PartialSum) and value.missing_note:
            text = format_html(
                '<span class="at-least" title="{}">{}</span>', value.missing_note, text
            )
        if isinstance(value, PartialSum) and value.ahead:
            return format_html("{} {}", text, ahead(value))
        return text

    return told


for _name, _write in (
    ("count", numbers.count),
    ("short", numbers.short),
    ("bytes", numbers.size),
    ("rate", numbers.rate),
    ("bytes_rate", numbers.size_rate),
):
    register.filter(_name, _told(_write))
register.filter("name", links.name_shown)
register.simple_tag(links.topic_link)
register.simple_tag(links.group_link)
register.filter("percent", numbers.percent)
register.filter("moment", numbers.moment)
register.filter("seconds", numbers.duration)

TONES = {
    "ok": "success", "good": "success", "Stable": "success", "running": "info",
    "warn": "warning", "stale": "warning", "queued": "secondary", "Empty": "secondary",
    "bad": "danger", "down": "danger", "failed": "danger", "Dead": "danger", "firing": "danger",
    "info": "info", "done": "success", "resolved": "success", "pending": "warning",
    "PreparingRebalance": "warning", "CompletingRebalance": "warning", "refused": "warning",
}  # fmt: skip


@register.filter
def known(value: Any) -> Any:
    """The value, or "—" when it is None or empty."""
    return numbers.UNKNOWN if value in (None, "") else value


@register.filter
def joined(values: Any) -> str:
    """A list as "1, 2, 3"."""
    return numbers.UNKNOWN if values is None else ", ".join(str(value) for value in values)


@register.filter
def clock(at_ms: int | None) -> str:
    """When something began: hh:mm:ss, with the date where that is not today's."""
    return numbers.clock(at_ms, now_ms())


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """One of the icons in static/vendor/icons/icons.svg; decorative, hidden from screen readers."""
    return format_html(
        '<svg class="icon {}" width="24" height="24" fill="none" stroke="currentColor" '
        'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">'
        '<use href="{}#{}"></use></svg>',
        css,
        static("vendor/icons/icons.svg"),
        name,
    )


@register.simple_tag
def age(at_ms: int | None, source: str = "") -> SafeString:
    """How old a figure is, kept current by static/app/clock.js; hovering says when and whence."""
    if at_ms is None:
        return SafeString(numbers.UNKNOWN)
    told = f"{numbers.moment(at_ms)} · {source}" if source else numbers.moment(at_ms)
    return format_html(
        '<time class="age" data-at-ms="{}" title="{}">{}</time>',
        at_ms,
        told,
        numbers.age(at_ms, now_ms()),
    )


@register.inclusion_tag("ui/badge.html")
def badge(label: Any, tone: str = "", hint: str = "") -> dict[str, Any]:
    """A small word of state. The tone comes from the label where none is given."""
    return {
        "label": label,
        "tone": TONES.get(tone or str(label), tone or "secondary"),
        "hint": hint,
    }


@register.inclusion_tag("ui/lag.html")
def lag(row: Any) -> dict[str, Any]:
    """The lag of a group, of a group on one topic or of a partition, and what it lacks."""
    is_ahead = getattr(row, "ahead", 0) > 0
    told = ahead(row) if is_ahead else ""
    return {"row": row, "note": getattr(row, "lag_note", ""), "ahead": told}


@register.inclusion_tag("ui/stat.html")
def stat(title: str, value: str, **options: Any) -> dict[str, Any]:
    """One figure with its name, source and age.

    Options: id, unit, note, href, icon, tone, at_ms, source, spark (a list of numbers).
    """
    spark = options.get("spark")
    drawn = sparkline.draw(spark, title) if spark is not None else None
    known = numbers.UNKNOWN not in str(value)  # what is not known has no source and no age
    return {**options, "title": title, "value": value, "spark": drawn, "known": known}


@register.inclusion_tag("ui/table_head.html")
def table_head(table: TableQuery) -> dict[str, Any]:
    return {"table": table}


@register.inclusion_tag("ui/table_search.html", takes_context=True)
def table_search(context: template.Context, table: TableQuery, placeholder: str) -> dict[str, Any]:
    return {"table": table, "placeholder": placeholder, "path": context["request"].path}


@register.inclusion_tag("ui/pager.html")
def pager(table: TableQuery) -> dict[str, Any]:
    return {"table": table}


@register.inclusion_tag("ui/empty.html")
def empty_state(title: str, text: str = "", **options: Any) -> dict[str, Any]:
    """What stands where there is nothing yet. Options: icon, href, action."""
    return {"icon": "info-circle", **options, "title": title, "text": text}


@register.inclusion_tag("ui/empty.html")
def no_match(table: TableQuery, title: str, text: str) -> dict[str, Any]:
    """What stands where a search found nothing: how it looks for things, and the way back."""
    back = {"href": table.clear_url, "action": _("Clear the search")}
    return {"icon": "search", "title": title, "text": text, **back}


@register.inclusion_tag("ui/tabs.html")
def tabs(items: Any) -> dict[str, Any]:
    """`items`: a list of {"title", "url", "active", "count"?}."""
    return {"items": items}


@register.inclusion_tag("ui/notice.html")
def notice(tone: str, title: str, text: str = "") -> dict[str, Any]:
    """A message in the page: tone ok, info, warn or bad, or a level of Django's messages."""
    tone = {"success": "ok", "warning": "warn", "error": "bad"}.get(tone, tone)
    icons = {"ok": "circle-check", "info": "info-circle", "warn": "alert-triangle"}
    colour = TONES.get(tone, "info")
    return {"icon": icons.get(tone, "circle-x"), "tone": colour, "title": title, "text": text}


@register.inclusion_tag("ui/field.html")
def field(bound: BoundField, css: str = "") -> dict[str, Any]:
    """One form field: label, control, help, errors."""
    kind = bound.field.widget.__class__.__name__
    base = {"Select": "form-select", "CheckboxInput": "form-check-input"}.get(kind, "form-control")
    attrs: dict[str, str | bool] = {"class": f"{base}{' is-invalid' if bound.errors else ''}"}
    return {
        "field": bound,
        "control": bound.as_widget(attrs=attrs),
        "is_check": kind == "CheckboxInput",
        "css": css,
    }


@register.inclusion_tag("ui/progress.html")
def progress(percent: float | None, label: str = "") -> dict[str, Any]:
    """A bar from 0 to 100; None for work whose end is not known."""
    return {"percent": percent, "label": label}

"""The components of templates/ui/ as template tags, built in to every template.

`/ui` shows all components in all states. Inclusion tags return a template's context; filters format
figures (console/ui/numbers.py, times.py). They use no inline styles or scripts.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from django import template
from django.forms import BoundField
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console import static_files
from console.ui import links, numbers, sparkline, texts, times
from console.ui.table_query import TableQuery
from console.ui.tones import TONES, icon_of
from monitoring.clock import now_ms
from monitoring.partial_sum import PartialSum
from monitoring.read_model.row_types import LastRecord

register = template.Library()
_CLOCK_SKEW_MS = 60_000  # a timestamp so far ahead may come from a producer's clock
_TH = re.compile(r"<th\b[^>]*>")
_UNIT = re.compile(r"(-?[\d.,\u00a0\u202f]*\d)(\D+)")  # a figure and its unit


def ahead(lag: Any) -> SafeString:
    """The note beside a sum of lags that counts negative lags as 0."""
    text = ngettext(
        "%(n)d partition ahead by %(by)s", "%(n)d partitions ahead by %(by)s", lag.ahead
    )
    return format_html(
        '<span class="ahead" title="{}">{}</span>',
        _(
            "committed beyond the end offset, counted as 0: the topic was created again, or its "
            "log was truncated"
        ),
        text % {"n": lag.ahead, "by": numbers.count(lag.ahead_by)},
    )


def _with_notes(write: Callable[[numbers.Figure], str]) -> Callable[[numbers.Figure], str]:
    """The filter for `write`. For a PartialSum, the tooltip says what is missing from the sum,
    and a note says how many partitions are ahead."""

    @wraps(write)
    def with_notes(value: numbers.Figure) -> str:
        text = write(value)
        if isinstance(value, PartialSum) and value.missing_note:
            text = format_html(
                '<span class="at-least" title="{}">{}</span>', value.missing_note, text
            )
        if isinstance(value, PartialSum) and value.ahead:
            return format_html("{} {}", text, ahead(value))
        return text

    return with_notes


for _name, _write in (
    ("count", numbers.count),
    ("short", numbers.short),
    ("bytes", numbers.size),
    ("rate", numbers.rate),
    ("change_rate", numbers.change_rate),
    ("bytes_rate", numbers.size_rate),
):
    register.filter(_name, _with_notes(_write))
register.filter("name", links.name_shown)
register.simple_tag(links.topic_link)
register.simple_tag(links.group_link)
register.filter("sentence", texts.sentence)
register.filter("percent", numbers.percent)
register.filter("latency", numbers.latency)
register.filter("moment", times.moment)
register.filter("seconds", times.duration)


@register.filter
def or_dash(value: Any) -> Any:
    """The value, or "—" when it is None or empty."""
    return numbers.UNKNOWN if value in (None, "") else value


@register.filter
def joined(values: Any) -> str:
    """A list as "1, 2, 3"."""
    return numbers.UNKNOWN if values is None else ", ".join(str(value) for value in values)


@register.filter
def clock(at_ms: int | None) -> str:
    """A time: hh:mm:ss, with the date if it is more than a day ago."""
    return times.clock(at_ms, now_ms())


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
    """The age of a figure, updated by static/app/clock.js; the tooltip has time and source."""
    if at_ms is None:
        return SafeString(numbers.UNKNOWN)
    tooltip = f"{times.moment(at_ms)} · {source}" if source else times.moment(at_ms)
    return format_html(
        '<time class="age" data-at-ms="{}" title="{}">{}</time>',
        at_ms,
        tooltip,
        times.age(at_ms, now_ms()),
    )


@register.simple_tag
def record_age(last: LastRecord) -> SafeString:
    """The age of a topic's or partition's last record; the tooltip has its time."""
    if last.at_ms is None:
        if not last.is_latest:
            return _figure(numbers.UNKNOWN, _("not known"))
        return _figure(_("none"), _("There is no record with a timestamp."), "text-secondary")
    if last.at_ms > now_ms() + _CLOCK_SKEW_MS:
        tooltip = _("%(time)s: a producer chose this time") % {"time": times.moment(last.at_ms)}
        return _figure(_("in the future"), tooltip, "text-warning")
    if last.is_latest:
        return age(last.at_ms)
    return format_html("≤ {}", age(last.at_ms, _("there are newer records, not sampled yet")))


@register.simple_tag
def badge(label: Any, tone: str = "", hint: str = "") -> SafeString:
    """A state badge: icon, label and colour. Without a tone, it is derived from the label."""
    return _badge(str(label), tone or str(label), str(hint), has_tone=bool(tone))


@register.simple_tag
def stylesheets() -> tuple[str, ...]:
    """The names of the stylesheets of every page."""
    return static_files.stylesheets()


@register.simple_tag
def state_icon(name: str, state: str) -> SafeString:
    """The icon of a state in its colour, named for screen readers."""
    tone = TONES.get(state, "secondary")
    return format_html(
        '<span class="text-{}" role="img" aria-label="{}" title="{}">{}</span>',
        tone, name, name, icon(icon_of(state, tone)),
    )  # fmt: skip


@lru_cache(maxsize=512)
def _badge(label: str, state: str, hint: str, *, has_tone: bool) -> SafeString:
    """Cached, since tables have hundreds of equal badges."""
    tone = TONES.get(state) or (state if has_tone else "secondary")
    icon_name = icon_of(label if label in TONES else state, tone)
    return format_html(
        '<span class="badge bg-{}-lt"{}>{}{}</span>',
        tone,
        format_html(' title="{}"', hint) if hint else "",
        icon(icon_name) if icon_name else "",
        label,
    )


@register.simple_tag
def lag(row: Any) -> SafeString:
    """The lag of a group, a group on one topic, or a partition, with notes on what is missing."""
    if getattr(row, "reported_at_ms", None):
        return _figure(numbers.UNKNOWN, _("its coordinator does not answer"))
    text = _lag(row)
    return format_html("{} {}", text, ahead(row)) if getattr(row, "ahead", 0) > 0 else text


def _lag(row: Any) -> SafeString:
    note = getattr(row, "lag_note", "")
    unknown, uncommitted = getattr(row, "end_unknown", 0), getattr(row, "not_committed", 0)
    if note == "not_committed":
        return _figure(_("none"), _("nothing committed"), "text-secondary")
    text = numbers.count(row.lag)
    if note == "ahead_of_end":
        tooltip = _(
            "committed beyond the end offset: the topic was created again, or its log was truncated"
        )
        return _figure(text, tooltip, "text-danger")
    if unknown and row.lag is not None:
        tooltip = ngettext(
            "the end offset of %(n)d of %(of)d partitions is unknown",
            "the end offsets of %(n)d of %(of)d partitions are unknown",
            unknown,
        ) % {"n": unknown, "of": row.partitions}
        return _figure(f"≥ {text}", tooltip, "at-least")
    if uncommitted:
        tooltip = ngettext(
            "%(n)d partition has no commit and is not counted",
            "%(n)d partitions have no commit and are not counted",
            uncommitted,
        ) % {"n": uncommitted}
        return _figure(text, tooltip)
    return format_html("<span>{}</span>", text)


def _figure(text: str, tooltip: str, css: str = "") -> SafeString:
    attribute = format_html(' class="{}"', css) if css else ""
    return format_html('<span{} title="{}">{}</span>', attribute, tooltip, text)


@register.inclusion_tag("ui/stat.html")
def stat(title: str, value: Any, **options: Any) -> dict[str, Any]:
    """One figure with its name; the name's tooltip has source and time.

    Options: id, unit, note, href, tone, at_ms, source, sparkline (a list of numbers).
    """
    points = options.get("sparkline")
    drawn = sparkline.draw(points, title) if points is not None else None
    figure: Any = value
    is_text = isinstance(value, str) and not isinstance(value, SafeString)
    if is_text and (split := _UNIT.fullmatch(value)):
        figure = format_html('{}<span class="stat-unit">{}</span>', *split.groups())
    if href := options.get("href"):
        figure = format_html('<a href="{}">{}</a>', href, figure)
    if unit := options.get("unit"):
        figure = format_html('{} <span class="stat-unit">{}</span>', figure, unit)
    notes = [
        options.get("source"),
        times.moment(options["at_ms"]) if options.get("at_ms") else "",
    ]
    if numbers.UNKNOWN in str(value):  # an unknown figure has no source and no age
        notes = [_("not known")]
    text = " · ".join(str(part) for part in notes if part)
    return {**options, "title": title, "figure": figure, "tooltip": text, "sparkline": drawn}


@register.inclusion_tag("ui/fact.html")
def fact(value: Any, label: str, tone: str = "", href: str = "") -> dict[str, Any]:
    """A figure and its label, in a line of facts; coloured only if it is bad."""
    return {"value": value, "label": label, "tone": tone, "href": href}


@register.simple_tag
def crumb(url: str, text: Any) -> SafeString:
    """A breadcrumb; the heading is the last one."""
    return format_html('<li><a href="{}">{}</a></li>', url, text)


@register.simple_tag
def action_link(action: Any) -> SafeString:
    """An action on a row (url, title, icon) as an icon with a link; nothing without an action."""
    if action is None:
        return SafeString("")
    return format_html(
        '<a href="{}" title="{}" aria-label="{}">{}</a>',
        action.url, action.title, action.title, icon(action.icon),
    )  # fmt: skip


@register.simple_tag
def th(title: Any, numeric: bool = False, hint: str = "", hidden: bool = False) -> SafeString:
    """A column's heading. `numeric`: the cells below are numbers. `hidden`: only screen readers say
    it, for a column of links or checkboxes."""
    if hidden:
        title = format_html('<span class="visually-hidden">{}</span>', title)
    return format_html(
        '<th scope="col"{}{}>{}</th>',
        SafeString(' class="text-end"') if numeric else "",
        format_html(' title="{}"', hint) if hint else "",
        title,
    )


@register.filter
def numeric_columns(head: TableQuery | str | None) -> str:
    """The CSS classes of a table, `numeric-1 numeric-3`: which of its columns hold numbers.

    `head` is a table with sortable headings, or the HTML of the headings that `th` wrote.
    """
    if isinstance(head, TableQuery):
        numeric = [column.numeric for column in head.columns]
    else:
        numeric = ["text-end" in tag for tag in _TH.findall(head or "")]
    return " ".join(f"numeric-{number}" for number, is_one in enumerate(numeric, 1) if is_one)


@register.simple_tag
def replica(broker: int, partition: Any) -> SafeString:
    """A replica of a partition: the leader is outlined, an out-of-sync replica is dashed."""
    css, tooltip = "id", ""
    if broker == partition.leader:
        css, tooltip = css + " id-leader", _("leader")
    if broker not in partition.isr:
        css, tooltip = css + " id-out", _("not in sync")
    return format_html('<span class="{}" title="{}">{}</span>', css, tooltip, broker)


@register.filter
def sort_icon(direction: str) -> str:
    """The arrow beside the heading of a sortable column."""
    return {"ascending": "arrow-up", "descending": "arrow-down"}.get(direction, "selector")


@register.inclusion_tag("ui/page_link.html")
def page_link(url: str, rel: str, icon: str, label: str) -> dict[str, Any]:
    return {"url": url, "rel": rel, "icon": icon, "label": label}


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
def no_match(table: TableQuery, title: str, text: str) -> dict[str, Any]:
    """The empty state of a search without results, with a link that clears the search."""
    back = {"href": table.clear_url, "action": _("Clear the search")}
    return {"icon": "search", "title": title, "text": text, **back}


@register.inclusion_tag("ui/tabs.html")
def tabs(items: Any) -> dict[str, Any]:
    """`items`: a list of {"title", "url", "active", "count"?}."""
    return {"items": items}


@register.inclusion_tag("ui/notice.html")
def notice(tone: str, title: str, text: str = "") -> dict[str, Any]:
    """A banner without actions: tone ok, info, warn or bad, or a level of Django's messages."""
    return {"tone": tone, "title": title, "text": text}


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
    """A progress bar from 0 to 100; None = indeterminate."""
    return {"percent": percent, "label": label}

"""`{{ record.value|preview }}`: a key or value in a table, in one line."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from console.records.shown_data import ShownData

register = template.Library()


@register.filter
def preview(data: ShownData) -> SafeString:
    """A filter, not a template: a page has up to a thousand of them (13 µs each, not 56)."""
    if data.kind in ("null", "empty"):
        text = _("null") if data.kind == "null" else _("empty")
        return format_html('<span class="text-secondary">{}</span>', text)
    code = format_html('<code class="record-preview">{}</code>', data.preview)
    if data.kind != "hex":
        return code
    return format_html('{} <span class="text-secondary">{}</span>', code, _("binary"))

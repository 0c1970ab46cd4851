"""Renders the usual form controls without templates, as Django's templates do.

Django renders each control, each option of a list and the attributes of each with a template of its
own: 110 renderings for the form of a search, which take 3.7 ms; these functions take 0.8 ms.
"""

from collections.abc import Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.http import HttpRequest
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

Widget = Mapping[str, Any]  # a widget's context, as `Widget.get_context` makes it

_FOLDER = "django/forms/widgets/"
_INPUTS = {
    f"{_FOLDER}{name}.html"
    for name in ("checkbox", "date", "datetime", "hidden", "number", "password", "text", "url")
}


class FormRenderer(DjangoTemplates):
    """Django's renderer of form controls, faster for inputs, lists and text areas."""

    def render(
        self, template_name: str, context: dict[str, Any], request: HttpRequest | None = None
    ) -> str:
        if template_name in _INPUTS:
            return _input(context["widget"])
        if template_name == f"{_FOLDER}select.html":
            return _select(context["widget"])
        if template_name == f"{_FOLDER}textarea.html":
            return _textarea(context["widget"])
        return super().render(template_name, context, request)


def _input(widget: Widget) -> SafeString:
    value = widget["value"]
    value_html = "" if value is None else format_html(' value="{}"', str(value))
    return format_html(
        '<input type="{}" name="{}"{}{}>',
        widget["type"], widget["name"], value_html, _attributes(widget),
    )  # fmt: skip


def _select(widget: Widget) -> SafeString:
    groups = mark_safe("".join(_group(name, options) for name, options, _ in widget["optgroups"]))
    return format_html(
        '<select name="{}"{}>{}\n</select>', widget["name"], _attributes(widget), groups
    )


def _group(name: str | None, options: list[Widget]) -> str:
    html = "".join(
        f'\n  <option value="{conditional_escape(str(option["value"]))}"{_attributes(option)}>'
        f"{conditional_escape(option['label'])}</option>\n"
        for option in options
    )
    if not name:
        return html
    return format_html('\n  <optgroup label="{}">{}\n  </optgroup>', name, mark_safe(html))


def _textarea(widget: Widget) -> SafeString:
    return format_html(
        '<textarea name="{}"{}>\n{}</textarea>',
        widget["name"], _attributes(widget), widget["value"] or "",
    )  # fmt: skip


def _attributes(widget: Widget) -> SafeString:
    given = {name: value for name, value in widget["attrs"].items() if value is not False}
    return mark_safe(
        "".join(
            f" {conditional_escape(name)}"
            if value is True
            else f' {conditional_escape(name)}="{conditional_escape(str(value))}"'
            for name, value in given.items()
        )
    )

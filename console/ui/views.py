"""The page `/ui`, which shows all components in all states, and how `/units` converts a value."""

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import UserRequest
from console.ui.setting_field import VALUE_LENGTH_MAX
from console.ui.setting_units import (
    InvalidQuantity,
    Unit,
    conversion_of_lines,
    conversion_text,
    unit_of,
)
from console.ui.table import Column, Table
from monitoring.clock import now_ms


class SampleForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Letters, digits, dot, dash, underscore."),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        choices=[("a", gettext_lazy("First")), ("b", gettext_lazy("Second"))],
    )
    agreed = forms.BooleanField(label=gettext_lazy("I have read what this deletes"), required=False)


def sample_columns() -> list[Column]:
    return [
        Column("name", _("Topic"), lambda row: row["name"]),
        Column("messages", _("Messages"), lambda row: row["messages"], numeric=True),
        Column("state", _("State")),
    ]


@requires("ui.view")
def components(request: HttpRequest) -> HttpResponse:
    rows = [
        {"name": f"orders.{n:03}", "messages": None if n == 7 else n * n * 1234, "state": "ok"}
        for n in range(1, 64)
    ]
    table = Table(request.GET, sample_columns(), "name", id="sample", page_size=8)
    wrong = SampleForm({"wrong-name": "", "wrong-kind": "b"}, prefix="wrong")
    wrong.is_valid()
    return render(
        request,
        "ui/components.html",
        {
            "table": table.show(rows, lambda row: str(row["name"])),
            "form": SampleForm(initial={"name": "orders"}),
            "wrong": wrong,
            "now_ms": now_ms(),
            "wave": [(n * 37) % 23 + n for n in range(40)],
            "gap": [n if n % 9 else None for n in range(40)],
            "tabs": [
                {"title": _("Overview"), "url": "#", "active": True},
                {"title": _("Partitions"), "url": "#", "active": False, "count": 12},
                {"title": _("Consumers"), "url": "#", "active": False, "count": 0},
            ],
            "none": None,
        },
    )


@require_safe
@requires("cluster.view")
def units(request: UserRequest) -> HttpResponse:
    """The conversion of a value while it is typed, as JSON {text, error}
    (static/app/unit-hints.js).

    The query has the value, and its unit or the name of its setting; without both the value is
    lines of name=value.
    """
    value, name = request.GET.get("value", "")[:VALUE_LENGTH_MAX], request.GET.get("name", "")
    unit_name = request.GET.get("unit", "")
    unit = Unit(unit_name) if unit_name in tuple(Unit) else unit_of(name)
    try:
        if name or unit_name:
            text = conversion_text(value, unit) if unit else ""
        else:
            text = conversion_of_lines(value)
    except InvalidQuantity as error:
        return JsonResponse({"text": "", "error": str(error)})
    return JsonResponse({"text": text, "error": ""})

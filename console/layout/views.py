"""The home page, and the page `/ui`, which shows all components in all states."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.accounts.decorators import requires
from console.accounts.rights import may
from console.clusters.middleware import last_cluster
from console.clusters.visible_clusters import visible_clusters
from console.ui.table import Column, Table
from monitoring.clock import now_ms


def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the cluster of the page before, else the first one, or say what to do."""
    if cluster := last_cluster(request, visible_clusters(request.user)):
        return redirect("dashboard", cluster.slug)
    if may(request.user, "cluster.edit"):
        return redirect("clusters")
    return render(request, "ui/no_access.html", status=403)


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

"""The home page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from console.accounts.rights import may
from console.clusters.middleware import last_cluster
from console.clusters.visible_clusters import visible_clusters


def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the cluster of the page before, else the first one, or say what to do."""
    if cluster := last_cluster(request, visible_clusters(request.user)):
        return redirect("dashboard", cluster.slug)
    if may(request.user, "cluster.edit"):
        return redirect("clusters")
    return render(request, "ui/no_access.html", status=403)

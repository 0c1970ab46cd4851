"""`/search`: a page with a form and results; with `part=results` only the palette's list."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import UserRequest
from console.search import find_hits


@require_safe
@requires("cluster.view")
def index(request: UserRequest) -> HttpResponse:
    text, slug = request.GET.get("q", ""), request.GET.get("cluster", "")
    page_name = request.GET.get("on", "")
    results = find_hits.search(request.principal, text, slug, page_name)
    is_part = request.GET.get("part") == "results"
    template = "search/results.html" if is_part else "search/index.html"
    return render(request, template, {"results": results, "text": text, "slug": slug})

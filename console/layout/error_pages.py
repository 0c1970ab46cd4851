"""The error pages for 400, 403, 404 and 500."""

from typing import Any

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if not hasattr(request, "user"):  # refused before authentication: no menu
        body = f"{title}. {text}\n"
        return HttpResponse(body, status=status, content_type="text/plain; charset=utf-8")
    context = {"status": status, "title": title, "text": text}
    return render(request, "ui/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    text = _("Go back and try again.")
    if isinstance(exception, DisallowedHost):
        text = _("This host name is not allowed. Add it to AERIE_ALLOWED_HOSTS.")
    return _page(request, 400, _("Invalid request"), text)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, _("Not allowed"), str(exception or ""))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    text = _("The page was open for too long. Reload it and submit the form again.")
    return _page(request, 403, _("This form has expired"), text)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    argument: Any = exception.args[0] if exception and exception.args else ""
    text = argument if isinstance(argument, str) else ""
    default = _("It does not exist, or you may not see it.")
    return _page(request, 404, _("Not found"), text or default)


def failed(request: HttpRequest) -> HttpResponse:
    """A plain page, since the layout itself may be broken."""
    text = _("Aerie had an internal error; its log has the details. Try again in a moment.")
    return HttpResponse(text, status=500, content_type="text/plain; charset=utf-8")

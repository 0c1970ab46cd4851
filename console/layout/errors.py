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
    text = _("Go back and try it again.")
    if isinstance(exception, DisallowedHost):
        text = _("The console is not known by this host name: AERIE_ALLOWED_HOSTS can add it.")
    return _page(request, 400, _("That request makes no sense here"), text)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, _("You may not do this"), str(exception or ""))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    text = _("The page was open for too long or came from elsewhere. Load it again and repeat.")
    return _page(request, 403, _("This form can no longer be sent"), text)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    argument: Any = exception.args[0] if exception and exception.args else ""
    text = argument if isinstance(argument, str) else ""
    default = _("It does not exist, or you may not see it.")
    return _page(request, 404, _("Nothing here"), text or default)


def failed(request: HttpRequest) -> HttpResponse:
    """A plain page, since the layout itself may be broken."""
    text = _("Something in Aerie failed. It was written to the log; try again in a moment.")
    return HttpResponse(text, status=500, content_type="text/plain; charset=utf-8")

"""Middleware: Secure cookies over HTTPS, and redirects to the sign-in page."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode


class SecureCookiesMiddleware:
    """Marks the cookies of responses over HTTPS as Secure.

    This depends on the request, not on a setting: a console can be used over HTTPS through a proxy
    and also at http://127.0.0.1, where cookies cannot be Secure.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response


class SignInMiddleware(LoginRequiredMiddleware):
    """Redirects users who are not signed in to the sign-in page.

    For htmx requests the whole page is redirected; otherwise the sign-in page would appear inside
    the page.
    """

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:  # type: ignore[override]  # not only redirects
        if request.headers.get("HX-Request") != "true":
            return super().handle_no_permission(request, view_func)
        where = urlencode({"next": request.get_full_path()})
        return HttpResponse(status=401, headers={"HX-Redirect": f"{reverse('login')}?{where}"})

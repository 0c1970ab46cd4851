"""What holds for every page: Secure cookies over HTTPS, and the way to the sign-in page."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode


class SecureCookiesMiddleware:
    """Marks the cookies of an answer over HTTPS as Secure: browsers never send them in the clear.

    By request, not by setting: one console may be reached by HTTPS through a proxy and, on its own
    machine, by http://127.0.0.1, whose cookies could not be Secure.
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
    """Sends whoever is not signed in to the sign-in page, also from a page that stands open.

    A part of a page that asks for itself (htmx) must not get the sign-in page in its place: it is
    told to move the whole page there.
    """

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:  # type: ignore[override]  # not only redirects
        if request.headers.get("HX-Request") != "true":
            return super().handle_no_permission(request, view_func)
        where = urlencode({"next": request.get_full_path()})
        return HttpResponse(status=401, headers={"HX-Redirect": f"{reverse('login')}?{where}"})

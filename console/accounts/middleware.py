"""Sends whoever is not signed in to the sign-in page, also from a page that stands open.

A part of a page that asks for itself (htmx) must not get the sign-in page in its place: it is
told to move the whole page there.
"""

from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode


class SignInMiddleware(LoginRequiredMiddleware):
    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:
        if request.headers.get("HX-Request") != "true":
            return super().handle_no_permission(request, view_func)
        where = urlencode({"next": request.get_full_path()})
        return HttpResponse(status=401, headers={"HX-Redirect": f"{reverse('login')}?{where}"})

"""Redirects URLs with a missing or superfluous trailing slash.

Django's APPEND_SLASH only adds a slash; here most URLs have none.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import is_valid_path
from django.utils.encoding import escape_uri_path
from django.utils.http import escape_leading_slashes


class TrailingSlashMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        has_route = response.status_code != 404 or request.resolver_match is not None
        if has_route or request.method not in ("GET", "HEAD"):
            return response
        other_path = request.path_info.removesuffix("/")
        if other_path == request.path_info:
            other_path += "/"
        if not is_valid_path(other_path):
            return response
        query = request.META.get("QUERY_STRING", "")
        url = escape_leading_slashes(escape_uri_path(other_path))
        return HttpResponsePermanentRedirect(f"{url}?{query}" if query else url)

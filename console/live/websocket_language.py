"""The language of a socket, chosen as LocaleMiddleware chooses the language of a page."""

from typing import Any

from django.http import HttpRequest, parse_cookie
from django.utils.translation import get_language_from_request


def language_of(scope: Any) -> str:
    """From the language cookie, else from Accept-Language, else the default.

    `scope`: the ASGI scope of the socket.
    """
    headers = dict(scope.get("headers", []))
    request = HttpRequest()
    request.COOKIES = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    return get_language_from_request(request)

"""Checks the Origin of WebSockets: only pages of the console's own origin may open one.

Cookies ignore ports, so a browser sends the session cookie with a WebSocket that any page of the
same host opens. Only the header Origin identifies the page. It must equal the scheme, host and
port of the request. If a proxy does not pass on the Host header, the host is a loopback address;
then the Origin must be one of CSRF_TRUSTED_ORIGINS. Browsers always send the header, so a request
without it is refused.
"""

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

_PORTS = {"http": 80, "https": 443}
_SCHEMES = {"ws": "http", "wss": "https"}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

Origin = tuple[str, str, int]  # scheme, host, port


class SameOrigin:
    """ASGI middleware that accepts a WebSocket only from a page of the same origin."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        application = self._application if is_own_page(scope) else WebsocketDenier()
        await application(scope, receive, send)


def is_own_page(scope: Any) -> bool:
    """Whether the page that opens this WebSocket has the same origin."""
    headers = scope.get("headers", [])
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(origins) != 1 or len(hosts) != 1:
        return False
    page, domain = _parsed(origins[0]), split_domain_port(hosts[0])[0]
    if page is None or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if page == _parsed(f"{_SCHEMES.get(scope.get('scheme', 'ws'))}://{hosts[0]}"):
        return True
    return domain in _LOOPBACK and any(
        _matches(page, pattern) for pattern in settings.CSRF_TRUSTED_ORIGINS
    )


def _parsed(text: str) -> Origin | None:
    """Parse an origin; None if it is not valid ("null", a URL with a path or a user name)."""
    try:
        parts = urlsplit(text.lower())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    if "@" in parts.netloc or text.lower() != f"{parts.scheme}://{parts.netloc}":
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


def _matches(page: Origin, pattern: str) -> bool:
    """Whether the origin matches, also `https://*.example`."""
    trusted = _parsed(pattern)
    if trusted is None:
        return False
    scheme, host, port = trusted
    return (scheme, port) == (page[0], page[2]) and is_same_domain(page[1], host.removeprefix("*"))

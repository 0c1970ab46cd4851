"""From which pages a WebSocket is taken."""

import pytest

from console.live.websocket_origin import is_own_page


def asks(origin, host="127.0.0.1:8000", scheme="ws") -> bool:
    headers = [(b"host", host.encode())]
    headers += [(b"origin", text.encode()) for text in ([origin] if origin else [])]
    return is_own_page({"type": "websocket", "scheme": scheme, "headers": headers})


@pytest.fixture
def _behind_a_proxy(settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "console.example", ".sites.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://console.example", "https://*.sites.example"]


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "ws"),
        ("http://localhost:8000", "localhost:8000", "ws"),
        ("http://[::1]:8000", "[::1]:8000", "ws"),
        ("http://127.0.0.1", "127.0.0.1:80", "ws"),
        ("http://LOCALHOST:8000", "localhost:8000", "ws"),
    ],
)
def test_a_page_with_the_same_scheme_host_and_port_is_accepted(origin, host, scheme):
    assert asks(origin, host, scheme)


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:8001",
        "http://127.0.0.1",
        "https://127.0.0.1:8000",
        "http://localhost:8000",
        "ws://127.0.0.1:8000",
        "http://127.0.0.1:8000/path",
        "http://127.0.0.1:8000@elsewhere.example",
        "http://me@127.0.0.1:8000",
        "http://127.0.0.1:80000",
        "http://127.0.0.1:x",
        "//127.0.0.1:8000",
        "127.0.0.1:8000",
        "null",
        "",
    ],
)
def test_another_scheme_host_or_port_is_refused(origin):
    assert not asks(origin)


def test_a_host_that_the_console_does_not_answer_to_is_refused_from_its_own_pages_too():
    assert not asks("http://rebound.example:8000", "rebound.example:8000")


def test_two_origins_are_refused():
    headers = [(b"host", b"127.0.0.1:8000")] + [(b"origin", b"http://127.0.0.1:8000")] * 2
    assert not is_own_page({"type": "websocket", "scheme": "ws", "headers": headers})


@pytest.mark.usefixtures("_behind_a_proxy")
@pytest.mark.parametrize(
    ("origin", "host", "scheme", "is_taken"),
    [
        ("https://console.example", "console.example", "wss", True),
        ("https://console.example:8443", "console.example:8443", "wss", True),
        ("https://console.example", "console.example:8443", "wss", False),
        ("https://console.example:8443", "console.example", "wss", False),
        ("http://console.example", "console.example", "wss", False),
        ("https://console.example", "console.example", "ws", False),
        ("https://a.sites.example", "b.sites.example", "wss", False),
        # A proxy that does not pass the Host on:
        ("https://console.example", "127.0.0.1:8000", "wss", True),
        ("https://a.sites.example", "127.0.0.1:8000", "wss", True),
        ("https://console.example:8443", "127.0.0.1:8000", "wss", False),
        ("http://console.example", "127.0.0.1:8000", "wss", False),
        ("https://asites.example", "127.0.0.1:8000", "wss", False),
    ],
)
def test_behind_a_proxy_the_public_address_is_the_origin(origin, host, scheme, is_taken):
    assert asks(origin, host, scheme) is is_taken

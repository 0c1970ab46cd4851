"""A page with a live part, and what is pushed into it."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from console.accounts.rights import rights_of
from console.live import fragment_renderer, registry

PAGES = {
    "": "dashboard",
    "brokers": "brokers",
    "topics?sort=-rate&q=o&internal=1": "topics?q=o&sort=-rate&internal=1",
    "topics/orders?page=2": "topic:orders?page=2",
    "topics/orders/consumers": "readers:orders",
    "groups?q=bill": "groups?q=bill",
    "groups/billing": "group:billing",
    "alerts": "alerts",
    "alerts/rules": "rules",
    "alerts/deliveries": "deliveries",
    "reports": "reports",
    "topics/orders/config": "",
}


def said_by(page: str) -> dict[str, str]:
    """What the page's socket tells of it."""
    [address] = re.findall(r'hx-ws:connect="([^"]+)"', page)
    query = parse_qs(urlsplit(html.unescape(address)).query)
    return {name: values[0] for name, values in query.items()}


@pytest.fixture
def told(sampled, client_of, viewer):
    """A function: a page's text, what its socket says, and what is then pushed to it."""

    def open_page(path: str) -> tuple[str, dict[str, str], str]:
        page = client_of(viewer).get(f"/c/local/{path}").content.decode()
        said = said_by(page)
        show = registry.parse(said.get("show", ""))
        return page, said, fragment_renderer.render(sampled[0], rights_of(viewer, "local"), show)

    return open_page


@pytest.mark.parametrize("path", PAGES)
def test_the_socket_url_contains_fragment_and_tick(told, path):
    _page, said, _pushed = told(path)
    assert said.get("show", "") == PAGES[path]
    assert re.fullmatch(r"\d+\.ok", said["seen"])


@pytest.mark.parametrize("path", PAGES)
def test_each_pushed_element_has_its_id_on_the_page(told, path):
    page, _said, pushed = told(path)
    parts = re.findall(r'<[^>]*\bid="([^"]+)"[^>]*hx-swap-oob="[^"]+"', pushed)
    assert len(parts) == pushed.count("hx-swap-oob="), "each has an id"
    assert [part for part in parts if page.count(f'id="{part}"') != 1] == []
    assert (len(parts) > 4) is bool(PAGES[path]), "the banners, and the page's own"


@pytest.mark.parametrize("path", [path for path in PAGES if PAGES[path]])
def test_what_is_pushed_is_what_the_page_shows(told, path):
    """But for ages, and for white space."""
    page, _said, pushed = told(path)

    def text_of(text: str) -> list[str]:
        text = re.sub(r"(?s)<time.*?</time>|<svg.*?</svg>|<[^>]+>", " ", text)
        return text.split()

    shown = set(text_of(page))
    assert [word for word in text_of(pushed) if word not in shown] == []


def test_no_page_polls_for_ticks(told):
    for path in PAGES:
        page, _said, pushed = told(path)
        assert not re.search(r'hx-trigger="[^"]*\btick\b', page + pushed), path

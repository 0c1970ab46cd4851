"""Names that clients choose, and a hostile cluster tells: no page breaks, every link leads on."""

import html
import re
from urllib.parse import quote, urljoin

import pytest
from django.urls import NoReverseMatch, reverse

from console.accounts.rights import Rights
from console.live import fragment_renderer
from console.live.registry import FragmentKey
from console.ui.links import NAME_LENGTH_SHOWN
from monitoring.models import Alert, AlertRule
from tests.console.conftest import BROKERS, GROUPS, PARTITIONS, sample_next
from tests.console.test_every_url import TABLE

NAMES = [
    "", " ", ".", "..", "...", "~", "~2F", "a/b", "/", "//elsewhere.example/x", "a/../../../b",
    "a\\b", "%2e%2e", "a?b#c&d", "<script>alert(1)</script>", "\"'`", "{{ x }}{% y %}", "\x00",
    "two\nlines\r\n\t", "\x1b[31mred\x7f", "\u202eabc\u2066", "\u00fc\U0001f600", "\ufeff",
    "a" * 5000, "%s%(x)s", "config", "javascript:alert(1)",
]  # fmt: skip
UNSEEN = ("", " ", "\x00", "\ufeff")
SHORT = [name for name in NAMES if len(name) <= NAME_LENGTH_SHOWN]


def told(name: str) -> list[dict]:
    """A group with all names alike; it reads a topic of that name, and a real one."""
    members = {"member_id": name, "client_id": name, "member_host": name}
    words = {"group": name, "state": name or "Stable", "protocol_type": name}
    return [GROUPS[0] | words | members | {"topic": topic} for topic in (name, "orders")]


@pytest.fixture
def _hostile(sampled):
    """Groups, members, topics and a broker of all NAMES, and an alert that each group raised."""
    rule = AlertRule.objects.create(cluster=sampled[0], name="late", group_pattern="*", threshold=1)
    for state in (Alert.State.FIRING, Alert.State.RESOLVED):
        for name in NAMES:
            Alert.objects.create(
                rule=rule, cluster=rule.cluster, group=name, topic=name, state=state, lag=2,
                threshold=1, since_ms=1, fired_at_ms=1, fired_tick=1,
            )  # fmt: skip
    sample_next(
        groups=[row for name in NAMES for row in told(name)],
        partitions=PARTITIONS + [PARTITIONS[0] | {"topic": name} for name in NAMES],
        brokers=[BROKERS[0] | {"host": name, "rack": name} for name in NAMES],
    )


def opened(client, path: str) -> str:
    client.raise_request_exception = False
    answer = client.get(path)
    assert answer.status_code < 500 or answer.status_code in (502, 503), (path, answer)
    page = answer.content.decode() if not answer.streaming else ""
    assert "<script>alert" not in page or answer["Content-Type"] == "application/json"
    return page


def links(page: str) -> list[tuple[str, str]]:
    """(where a browser goes, what is written) of each link in the tables of a page."""
    body = page[page.find("<tbody") :]
    found = re.findall(r'<a href="([^"]+)">(.*?)</a>', body, re.S)
    here = "http://127.0.0.1/c/local/"
    return [(urljoin(here, html.unescape(url)), html.unescape(text)) for url, text in found]


@pytest.mark.usefixtures("_hostile", "_no_broker_answers")
@pytest.mark.parametrize("url", sorted(TABLE))
def test_no_page_breaks(url, client_of, admin):
    client = client_of(admin)
    for arguments, _get, _post in TABLE[url]:
        opened(client, reverse(url, args=arguments))


@pytest.mark.usefixtures("_hostile", "_no_broker_answers")
@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:24])
def test_the_pages_of_such_a_group_and_topic_do_not_break(name, client_of, admin):
    client = client_of(admin)
    assert "orders" in opened(client, reverse("group", args=["local", name]))
    opened(client, f"/c/local/chart?of=group&show=lag&range=1h&group={quote(name)}")
    opened(client, f"/c/local/alerts/rules/add?group={quote(name)}")
    for page in ("topic", "topic-config", "topic-consumers", "topic-add-partitions", "messages"):
        try:
            opened(client, reverse(page, args=["local", name]))
        except NoReverseMatch:
            opened(client, f"/c/local/topics/{quote(name)}")


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize("page", ["groups", "topics/orders/consumers"])
def test_every_group_is_linked_to_its_own_page_as_a_browser_understands_the_link(
    page, client_of, admin
):
    client = client_of(admin)
    found = links(opened(client, f"/c/local/{page}?rows=100"))
    texts = [text for _url, text in found]
    for name in SHORT:
        shown = f"<bdi>{f'“{name}”' if name in UNSEEN else name}</bdi>"
        assert texts.count(shown) == 1, (name, texts)
        url = found[texts.index(shown)][0]
        assert url.startswith("http://127.0.0.1/c/local/groups/")
        answer = client.get(url.removeprefix("http://127.0.0.1"))
        assert answer.status_code == 200, (name, url)
        assert answer.context["name"] == name


@pytest.mark.usefixtures("_hostile")
def test_only_valid_topic_names_are_links(client_of, admin):
    client = client_of(admin)
    pages = ["/c/local/topics", "/c/local/", *(reverse("group", args=["local", n]) for n in NAMES)]
    found = [link for path in pages for link in links(opened(client, path))]
    linked = {text for url, text in found if "/topics/" in url}
    names = {"...", "config", "orders", "console.audit"}
    named = {text for text in linked if text.startswith("<bdi>")}
    assert named == {f"<bdi>{name}</bdi>" for name in names}


def test_a_missing_topic_is_not_a_link(sampled, client_of, viewer):
    sample_next(groups=[GROUPS[0] | {"topic": "gone"}, GROUPS[1]])
    page = opened(client_of(viewer), "/c/local/groups/billing")
    assert "<bdi>gone</bdi>" in page
    assert {text for url, text in links(page) if "/topics/" in url} == {"<bdi>orders</bdi>"}


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:24])
def test_what_is_pushed_to_pages_does_not_break(name, sampled):
    rights = Rights("local", "admin")
    assert "live-dashboard" in fragment_renderer.render(
        sampled[0], rights, FragmentKey("dashboard")
    )
    assert "live-group" in fragment_renderer.render(sampled[0], rights, FragmentKey("group", name))

"""Each text of the main pages is translated, and none is put together of pieces.

Pages are asked for in a language that puts each translated text into brackets.
"""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from console.actions import models, registry
from console.actions.draft import Change, Draft
from console.actions.models import Plan
from console.live import websocket_language
from tests.console.conftest import BROKERS, GROUPS, PARTITIONS, sample_next
from tests.support.pseudo_language import LANGUAGE, outside, pseudo_language, texts

PAGES = [
    ("dashboard", ["local"]),
    ("brokers", ["local"]),
    ("topics", ["local"]),
    ("topic", ["local", "orders"]),
    ("topic-consumers", ["local", "orders"]),
    ("topic-config", ["local", "orders"]),
    ("topic-create", ["local"]),
    ("topic-delete", ["local", "orders"]),
    ("topic-purge", ["local", "orders"]),
    ("reassignments", ["local"]),
    ("quotas", ["local"]),
    ("quota-edit", ["local"]),
    ("schemas", ["local"]),
    ("schema-create", ["local"]),
    ("subject", ["local", "orders-value"]),
    ("broker-loggers", ["local", 1]),
    ("broker-logger", ["local", 1, "local"]),
    ("reassign", ["local"]),
    ("topic-add-partitions", ["local", "orders"]),
    ("messages", ["local", "orders"]),
    ("record-write", ["local", "orders"]),
    ("record-write-lines", ["local", "orders"]),
    ("record-mock", ["local", "orders"]),
    ("record-copy", ["local", "orders"]),
    ("segments", ["local", "orders", 0]),
    ("groups", ["local"]),
    ("group", ["local", "billing"]),
    ("alerts", ["local"]),
    ("alert-rules", ["local"]),
    ("alert-rule-add", ["local"]),
    ("alert-deliveries", ["local"]),
    ("reports", ["local"]),
    ("report-new", ["local"]),
    ("masking", ["local"]),
    ("search", []),
    ("clusters", []),
    ("cluster-add", []),
    ("cluster-edit", ["local"]),
    ("egress", []),
    ("audit", []),
    ("ui", []),
]
# What is no text of ours: names, and the words of Kafka's protocol.
NAMES = re.compile(
    r"Aerie|Kafka|brokerd|ZooKeeper|Local|Staging|local|staging|admin|viewer|operator|orders"
    r"|billing(-app)?|auditors|console\.audit|__consumer_offsets|cluster-of-tests|consumer"
    r"|\bok\b|Stable|Empty|Dead|PreparingRebalance|CompletingRebalance|UTC|[KMG]?i?B\b|topic\.\w+"
    r"|gzip|snappy|lz4|zstd|ord_\w+|-value\b|Avro|Protobuf|JSON Schema|\{\"status\": \"\w+\"\}"
)
# One translated text ends in the middle of a sentence, and the next goes on with it.
PIECES = re.compile(r"[^.!?…:⟧]⟧ ⟦[a-z]")


def assert_whole(html: str) -> None:
    for text in texts(html):
        left = NAMES.sub("", outside(text))
        assert not re.search(r"[A-Za-z]{2,}", left), f"not translated: {text!r}"
        assert not PIECES.search(text), f"put together of pieces: {text!r}"


@pytest.fixture(autouse=True)
def _pseudo():
    with pseudo_language():
        yield


@pytest.fixture
def page(client_of, admin):
    browser = client_of(admin)

    def get(name: str, *args: object, status: int | None = None) -> str:
        answer = browser.get(reverse(name, args=args), headers={"accept-language": LANGUAGE})
        assert status in (None, answer.status_code)
        assert f'lang="{LANGUAGE}"' in answer.content.decode()
        return answer.content.decode()

    return get


@pytest.mark.parametrize(("name", "args"), PAGES, ids=[name for name, _ in PAGES])
@pytest.mark.usefixtures("_no_broker_answers", "sampled")
def test_every_text_of_a_page_is_translated(page, name, args):
    assert_whole(page(name, *args))


@pytest.mark.parametrize("name", ["dashboard", "brokers", "topics", "groups", "clusters"])
@pytest.mark.usefixtures("_no_broker_answers", "sampled")
def test_pages_of_a_cluster_with_problems_are_translated(page, name):
    sample_next(
        brokers=[BROKERS[0] | {"up": False, "down_since_ms": 1000, "leaders": 3}],
        partitions=[row | {"leader": -1} for row in PARTITIONS],
        groups=[row | {"reported_at_ms": 1000} for row in GROUPS],
        groups_complete=False,
        zookeeper_up=False,
        since={"leaderless": 1000, "zookeeper": 1000},
    )
    assert_whole(page(name, *([] if name == "clusters" else ["local"])))


@pytest.mark.usefixtures("clusters", "redis_server")
def test_pages_before_the_first_sample_are_translated(page):
    for name in ("dashboard", "brokers", "topics", "groups"):
        assert_whole(page(name, "local"))


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("url", ["ftp://example.com/", "http://10.0.0.1/hook"])
def test_the_reason_why_a_url_is_refused_is_translated(client_of, admin, url):
    answer = client_of(admin).post(
        reverse("alert-rule-add", args=["local"]),
        {"name": "late", "group_pattern": "*", "threshold": 1, "for_seconds": 60, "url": url},
        headers={"accept-language": LANGUAGE},
    )
    assert answer.status_code == 422
    said = [text for text in texts(answer.content.decode()) if "cannot be used" in text]
    assert said
    assert not [outside(text) for text in said if re.search("[A-Za-z]{2,}", outside(text))]


def test_the_404_page_is_translated(page):
    assert_whole(page("topic", "local", "absent", status=404))
    assert_whole(page("group", "local", "absent", status=404))


@pytest.mark.parametrize("action", registry.actions())
@pytest.mark.parametrize("state", models.STATES)
@pytest.mark.usefixtures("sampled")
def test_a_plan_is_translated_in_each_state(page, admin, action, state):
    keys = [step.key for step in registry.find(action).steps({})]
    resource = "1" if action.startswith("broker.") else "orders"
    plan = Plan.objects.create(
        cluster="local", action=action, resource=resource, params={}, facts={},
        draft=Draft("⟦…⟧", [Change("⟦…⟧", "1", "2")], undo="⟦…⟧", typed_name="orders").as_json(),
        state=state, current_step=keys[0], step_states={keys[0]: "failed"}, created_by=admin,
        created_at=timezone.now(),
    )  # fmt: skip
    assert_whole(page("plan", "local", plan.pk, status=200))


def test_a_socket_uses_the_language_of_its_browser():
    cookie = f"sessionid=x; django_language={LANGUAGE}".encode()
    for headers, expected in (
        ([(b"cookie", cookie)], LANGUAGE),
        ([(b"accept-language", b"eo, en;q=0.5")], LANGUAGE),
        ([(b"cookie", b"django_language=xx"), (b"accept-language", b"eo")], LANGUAGE),
        ([(b"accept-language", b"xx")], "en"),
        ([], "en"),
    ):
        assert websocket_language.language_of({"headers": headers}) == expected

"""All topics that match the list's filter are selected, whatever page is shown."""

import pytest

from console.topics.actions.bulk import TOPICS_MAX
from tests.console.conftest import PARTITIONS, a_user, sample

URL = "/c/local/change-topics"


def a_tick(count: int, prefix: str = "shop") -> None:
    names = [f"{prefix}-{n:03}" for n in range(count)] + ["orders", "console.audit"]
    sample(partitions=[PARTITIONS[0] | {"topic": name} for name in names], groups=[])


@pytest.fixture
def post(redis_server, clusters, client_of):
    def posted(user, matching: str, **more: str) -> tuple[int, str]:
        sent = {"action": "topics.configure", "matching": matching, **more}
        response = client_of(user).post(URL, sent)
        return response.status_code, response.content.decode()

    return posted


def test_those_of_all_pages_are_listed_by_name(post, operator):
    a_tick(120)
    status, text = post(operator, "?q=shop&page=2")
    assert status == 200
    assert all(f'name="topic" value="shop-{n:03}"' in text for n in range(120))
    assert 'value="orders"' not in text


def test_marked_topics_are_added(post, operator):
    a_tick(2)
    assert 'value="orders"' in post(operator, "?q=shop", topic="orders")[1]


def test_too_many_are_refused_with_both_numbers(post, operator):
    a_tick(TOPICS_MAX + 1)
    status, text = post(operator, "?q=shop")
    assert status == 422
    assert f"{TOPICS_MAX + 1} topics are selected. Select at most {TOPICS_MAX} topics." in text


def test_only_topics_in_the_scope_are_selected(post):
    a_tick(3)
    user = a_user("scoped", "operator", topics=["shop-001", "console*"])
    text = post(user, "")[1]
    assert 'value="shop-001"' in text
    assert "shop-002" not in text
    assert "console.audit" not in text


@pytest.mark.parametrize("query", ["?q=nothing", "?q=%00", "q=nothing&sort=x&page=-1&show=?"])
def test_a_query_that_finds_nothing_selects_nothing(post, operator, query):
    a_tick(2)
    assert post(operator, query)[0] == 422


def test_the_list_offers_it_if_there_are_more_pages(
    redis_server, clusters, client_of, operator, viewer
):
    a_tick(120)
    page = client_of(operator).get("/c/local/topics?q=shop").content.decode()
    assert 'name="matching" value="?q=shop"' in page
    assert 'data-select-matching="120"' in page
    assert (
        'name="matching"'
        not in client_of(operator).get("/c/local/topics?q=shop-00").content.decode()
    )
    assert 'name="matching"' not in client_of(viewer).get("/c/local/topics").content.decode()

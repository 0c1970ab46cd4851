"""What the search finds, for whom, and in which order."""

import re

import pytest
from django.test import Client

from console.live import snapshot_cache
from tests.console.conftest import BROKERS, GROUPS, PARTITIONS, a_user, sample_next


@pytest.fixture
def text_of(client_of):
    def get(user, query: str, cluster: str = "local", part: str = "results") -> str:
        client: Client = client_of(user)
        params = {"q": query, "cluster": cluster, "part": part}
        response = client.get("/search", params)
        assert response.status_code == 200
        return response.content.decode()

    return get


def test_a_topic_is_found_with_its_pages(sampled, viewer, text_of):
    text = text_of(viewer, "ord")
    assert "<mark\n>ord</mark>ers" in text
    assert 'href="/c/local/topics/orders"' in text
    assert "/c/local/topics/orders/messages" in text


@pytest.mark.parametrize("part", ["results", ""])
def test_topics_and_groups_outside_the_scope_are_not_found(sampled, text_of, part):
    user = a_user("scoped", "operator", topics=["none*"], groups=["none*"])
    for query in ("orders", "billing", "#o", "@b", "audit"):
        text = text_of(user, query, part=part)
        assert "/topics/" not in text
        assert "/groups/" not in text


def test_hidden_topics_are_found_by_admins_only(sampled, viewer, operator, admin, text_of):
    for user in (viewer, operator):
        assert "/topics/console.audit" not in text_of(user, "audit")
        assert "/topics/__consumer_offsets/messages" not in text_of(user, "offsets")
    assert "/topics/console.audit" in text_of(admin, "audit")


def test_one_who_may_see_no_cluster_may_not_search(sampled, outsider, client_of):
    response = client_of(outsider).get("/search", {"q": "orders", "part": "results"})
    assert response.status_code == 403
    assert b"/c/local" not in response.content


def test_another_cluster_is_searched_if_the_user_may_see_it(sampled, viewer, text_of):
    assert "/c/staging/topics/only-in-staging" in text_of(viewer, "only")
    of_local = a_user("of-local", "viewer", "local")
    assert "staging" not in text_of(of_local, "only").replace("only-in", "")
    assert "staging" not in text_of(of_local, "stag", cluster="staging")


def test_the_open_cluster_comes_first(sampled, viewer, text_of):
    sample_next("staging", partitions=[PARTITIONS[0]], groups=[])
    sample_next("local")
    for here, there in (("local", "staging"), ("staging", "local")):
        text = text_of(viewer, "orders", cluster=here)
        links = [text.index(f'href="/c/{slug}/topics/orders"') for slug in (here, there)]
        assert links == sorted(links)


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("staging orders", "/c/staging/topics/orders"),
        ("ord staging", "/c/staging/topics/orders"),
        ("STAG bill", "/c/staging/groups/billing"),
        ("staging broker", "/c/staging/brokers/1"),
        ("staging 127.0", "/c/staging/brokers/1"),
        ("local orders", "/c/local/topics/orders"),
        ("#staging ord", "/c/staging/topics/orders"),
        ("reset staging billing", "/c/staging/group-reset/billing"),
    ],
)
def test_the_name_of_a_cluster_and_a_part_of_a_name_find_what_that_cluster_has(
    sampled, admin, text_of, query, url
):
    for slug in ("local", "staging"):
        sample_next(slug)
    text = text_of(admin, query)
    assert f'href="{url}"' in text
    other = "local" if url.startswith("/c/staging") else "staging"
    assert f"/c/{other}/topics/orders" not in text
    assert f"/c/{other}/group" not in text


def test_names_with_all_words_come_before_those_that_need_the_cluster(sampled, viewer, text_of):
    sample_next("staging", partitions=[PARTITIONS[0] | {"topic": "orders-local"}])
    sample_next("local")
    text = text_of(viewer, "local orders")
    links = [text.index(f'href="{url}"') for url in
             ("/c/staging/topics/orders-local", "/c/local/topics/orders")]  # fmt: skip
    assert links == sorted(links)
    assert "<mark\n>orders</mark>-<mark\n>local</mark>" in text


def test_a_cluster_is_named_only_to_those_who_may_see_it(sampled, text_of):
    sample_next("staging")
    assert "/c/staging" not in text_of(a_user("of-local", "viewer", "local"), "staging orders")


def test_actions_on_a_row_are_those_that_the_user_may_do(sampled, viewer, admin, text_of):
    assert "/delete" not in text_of(viewer, "orders")
    assert "/c/local/topics/orders/delete" in text_of(admin, "orders")
    assert "/c/local/group-reset/billing" in text_of(admin, "billing")
    assert "/c/local/group-reset/billing" not in text_of(viewer, "billing")


def test_a_read_only_cluster_offers_no_changes(sampled, admin, text_of):
    cluster, _other = sampled
    cluster.read_only = True
    cluster.save()
    text = text_of(admin, "orders") + text_of(admin, ">")
    assert "/delete" not in text
    assert "create-topic" not in text


def test_signs_limit_the_search_to_topics_groups_or_actions(sampled, admin, text_of):
    groups = [row | {"group": "orders-reader"} for row in GROUPS]
    sample_next("local", groups=groups)
    topics, readers = text_of(admin, "#ord"), text_of(admin, "@ord")
    assert "/topics/orders" in topics
    assert "/groups/" not in topics
    assert "/groups/orders-reader" in readers
    assert "/topics/orders" not in readers
    actions = text_of(admin, ">topic")
    assert "create-topic" in actions
    assert "/c/local/topics" not in actions


def test_schemas_are_offered_where_the_cluster_has_a_registry(sampled, viewer, text_of):
    cluster, _other = sampled
    assert "/c/local/schemas" not in text_of(viewer, "schemas")
    cluster.registry_url = "http://127.0.0.1:1"
    cluster.save()
    assert "/c/local/schemas" in text_of(viewer, "schemas")


def test_the_list_is_bounded_and_says_how_many_there_are(sampled, viewer, text_of):
    names = [f"many-{n:03}" for n in range(50)]
    sample_next("local", partitions=[PARTITIONS[0] | {"topic": name} for name in names], groups=[])
    text = text_of(viewer, "many")
    assert "20 of 50" in text
    assert text.count("<mark") == 20


def test_odd_queries_are_answered(sampled, admin, text_of):
    for query in ("", " ", "#", "@", ">", "(", "\\", "\x00", "é", "x" * 5000, "<script>", "'"):
        assert "<script>" not in text_of(admin, query)


def test_the_page_works_without_scripts(sampled, viewer, text_of):
    text = text_of(viewer, "orders", part="")
    assert 'name="q" value="orders"' in text
    assert "/c/local/topics/orders/consumers" in text
    assert "<template" not in text


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("reset billing", "/c/local/group-reset/billing"),
        ("billing reset", "/c/local/group-reset/billing"),
        ("reset offsets of bill", "/c/local/group-reset/billing"),
        ("retention orders", "/c/local/topics/orders/config#id_retention.ms"),
        ("search records ord", "/c/local/topics/orders/messages/search#id_text"),
        ("export orders", "/c/local/topics/orders/messages/search#id_text"),
        ("purge orders", "/c/local/topics/orders/purge"),
        ("delete orders", "/c/local/topics/orders/delete"),
        ("> partitions for orders", "/c/local/topics/orders/add-partitions"),
        ("alert on billing", "/c/local/alerts/rules/add?group=billing"),
    ],
)
def test_an_action_is_found_by_its_usual_words_on_what_is_named(
    sampled, admin, text_of, query, url
):
    assert f'href="{url}"' in text_of(admin, query)


def test_replicas_are_moved_only_where_the_brokers_can_move_them(sampled, admin, text_of):
    assert "/reassign" not in text_of(admin, "reassign orders")
    sample_next("local", brokers=[BROKERS[0] | {"source": "none"}])
    snapshot_cache.refresh("local")
    assert 'href="/c/local/reassign?topic=orders"' in text_of(admin, "reassign orders")


def test_an_action_alone_is_offered_on_what_is_probably_meant(sampled, admin, text_of):
    assert 'href="/c/local/group-reset/billing"' in text_of(admin, "reset")
    assert 'href="/c/local/topics/orders/messages/search#id_text"' in text_of(admin, "export")


def test_an_action_alone_is_first_offered_on_the_topic_or_group_of_the_page(
    sampled, admin, client_of
):
    names = [row | {"group": name} for name in ("behind", "billing") for row in GROUPS[:1]]
    names[1] = names[1] | {"committed_offset": 99}
    sample_next("local", groups=names)
    for query, first in (("on=billing", "billing"), ("on=nobody", "behind"), ("", "behind")):
        answer = client_of(admin).get(f"/search?q=reset&cluster=local&part=results&{query}")
        resets = re.findall(r"group-reset/(\w+)", answer.content.decode())
        assert resets[0] == first, query
        assert sorted(resets) == ["behind", "billing"]


def test_actions_on_what_is_named_are_those_that_the_user_may_do(
    sampled, viewer, operator, text_of
):
    assert "group-reset" not in text_of(viewer, "reset billing")
    assert "/messages/search#id_text" in text_of(viewer, "search records orders")
    assert "/purge" not in text_of(operator, "purge orders")
    scoped = a_user("scoped", "admin", topics=["none*"], groups=["none*"])
    for query in ("reset billing", "reset", "export", "purge orders"):
        assert "/group-reset/billing" not in text_of(scoped, query)
        assert "/topics/orders" not in text_of(scoped, query)


def test_what_the_console_refuses_on_internal_topics_is_not_offered(sampled, admin, text_of):
    for name in ("__consumer_offsets", "console.audit"):
        text = text_of(admin, f"#{name}")
        assert f"/topics/{name}/messages" in text
        assert ("/topics/" + name + "/delete" in text) == (name == "console.audit")
        assert f"/topics/{name}/messages/write" not in text_of(admin, f"write {name}")
    assert "/delete" not in text_of(admin, "delete __consumer_offsets")


def test_a_word_of_a_name_is_no_action(sampled, admin, text_of):
    sample_next("local", partitions=[PARTITIONS[0] | {"topic": "reset-log"}], groups=[])
    assert 'href="/c/local/topics/reset-log"' in text_of(admin, "reset-log")
    assert "group-reset" not in text_of(admin, "reset-log")

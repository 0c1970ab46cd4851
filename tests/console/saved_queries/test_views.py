"""The menu of saved queries on each page, and its forms."""

import pytest
from django.urls import reverse

from console.saved_queries.models import SavedQuery
from console.saved_queries.pages import PAGES

QUERY = "q=zz&sort=-lag"


def url_of(page):
    args = ["local", "orders"] if PAGES[page].is_of_topic else ["local"]
    return reverse(page, args=args)


def post(client, **changes):
    fields = {"page": "topics", "topic": "", "query": QUERY, "name": "late ones"}
    return client.post(reverse("saved-query-save", args=["local"]), fields | changes)


@pytest.mark.parametrize("page", PAGES)
def test_each_page_saves_its_query_and_opens_it(sampled, client_of, viewer, page):
    client = client_of(viewer)
    topic = "orders" if PAGES[page].is_of_topic else ""
    assert 'name="query"' not in client.get(url_of(page)).content.decode()
    text = client.get(f"{url_of(page)}?{QUERY}&page=2").content.decode()
    assert "Save this query" in text
    answer = post(client, page=page, topic=topic)
    assert answer.headers["Location"] == f"{url_of(page)}?{QUERY}"
    text = client.get(f"{url_of(page)}?{QUERY}").content.decode()
    assert "late ones" in text
    assert "q=zz&amp;sort=-lag" in text


def test_a_query_is_renamed_shared_and_deleted(sampled, client_of, operator, viewer):
    client = client_of(operator)
    post(client)
    edit = reverse("saved-query", args=["local", SavedQuery.objects.get().pk])
    assert "late ones" in client.get(edit).content.decode()
    assert client.post(edit, {"name": "ours", "is_shared": "on"}).status_code == 302
    text = client_of(viewer).get(reverse("topics", args=["local"])).content.decode()
    assert "ours" in text
    assert "by operator" in text
    assert edit not in text
    assert client_of(viewer).post(edit, {"name": "x"}).status_code == 404
    assert client_of(viewer).post(f"{edit}/delete").status_code == 404
    assert client.post(f"{edit}/delete").status_code == 302
    assert not SavedQuery.objects.exists()


def test_bad_input_is_an_error_of_a_form_that_keeps_the_query(sampled, client_of, viewer):
    client = client_of(viewer)
    post(client)
    answer = post(client)
    assert answer.status_code == 422
    assert "already" in answer.content.decode()
    assert "q=zz&amp;sort=-lag" in answer.content.decode()
    assert post(client, name="").status_code == 422
    for changes in (
        {"page": ""},
        {"page": "audit"},
        {"page": "messages-search"},
        {"page": "messages-search", "topic": "nope/../x"},
        {"page": "messages-search", "topic": "console.audit"},
    ):
        assert post(client, **changes).status_code == 422
    assert SavedQuery.objects.count() == 1


def test_a_viewer_that_asks_to_share_saves_for_themselves(sampled, client_of, viewer):
    post(client_of(viewer), is_shared="on")
    assert not SavedQuery.objects.get().is_shared


def test_an_outsider_and_another_user_find_nothing(sampled, client_of, viewer, outsider, admin):
    post(client_of(viewer))
    edit = reverse("saved-query", args=["local", SavedQuery.objects.get().pk])
    for user in (outsider, admin):
        assert client_of(user).get(edit).status_code == 404
        assert client_of(user).post(f"{edit}/delete").status_code == 404
    elsewhere = edit.replace("/local/", "/staging/")
    assert client_of(viewer).get(elsewhere).status_code == 404


def test_names_of_users_are_text(sampled, client_of, viewer):
    post(client_of(viewer), name="<script>alert(1)</script>")
    text = client_of(viewer).get(url_of("topics")).content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text

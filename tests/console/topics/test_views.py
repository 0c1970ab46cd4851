import re
import uuid

import pytest
from django.urls import reverse

from monitoring.models import Cluster
from tests.console.conftest import PARTITIONS, sample_next


def test_the_list_is_searched_and_sorted_on_the_server(sampled, client_of, admin):
    client = client_of(admin)
    page = client.get("/c/local/topics?sort=-name").content.decode()
    assert page.index("/topics/orders") < page.index("/topics/console.audit")
    found = client.get("/c/local/topics?q=ord").content
    assert b"/topics/orders" in found
    assert b"console.audit" not in found


def test_internal_topics_are_shown_when_asked(sampled, client_of, viewer):
    client = client_of(viewer)
    assert b"__consumer_offsets" not in client.get("/c/local/topics").content
    assert b"__consumer_offsets" in client.get("/c/local/topics?internal=1").content


def test_a_hidden_name_shows_nowhere_to_a_viewer(sampled, client_of, viewer):
    client = client_of(viewer)
    for name in ("dashboard", "topics", "groups", "brokers"):
        content = client.get(reverse(name, args=["local"]) + "?internal=1&q=").content
        assert b"console.audit" not in content
        assert b"auditors" not in content, "a group that reads only hidden topics"
    assert client.get("/c/local/groups/auditors").status_code == 404


def test_a_list_of_ten_thousand_topics_is_paged(sampled, client_of, viewer):
    sample_next(partitions=[PARTITIONS[0] | {"topic": f"t.{n:05}"} for n in range(10_000)])
    page = client_of(viewer).get("/c/local/topics?page=3").content.decode()
    assert "51 to 75 of 10" in page
    assert page.count('class="name"') == 25


def test_the_detail_shows_leader_and_replicas_and_links_on(sampled, client_of, viewer):
    page = client_of(viewer).get("/c/local/topics/orders").content.decode()
    assert "id-leader" in page
    assert reverse("messages", args=["local", "orders"]) in page
    assert reverse("segments", args=["local", "orders", 1]) in page


def test_the_offset_range_is_not_called_messages(sampled, client_of, viewer):
    partition = PARTITIONS[0] | {"log_start_offset": 0, "log_end_offset": 8013}
    sample_next(partitions=[partition, *PARTITIONS[1:]])
    for path in ("topics", "topics/orders"):
        page = client_of(viewer).get(f"/c/local/{path}").content.decode()
        assert "Offsets are end offset minus log start offset" in page, path
        assert not re.search(r"<th[^>]*>[^/]*Messages\b(?! in)", page), path
    assert "8\u202f013" in page


def test_a_viewer_sees_no_way_to_change_it(sampled, client_of, viewer, operator, admin):
    change = reverse("topic-add-partitions", args=["local", "orders"])
    delete = reverse("topic-delete", args=["local", "orders"])
    shown = {
        user.username: [
            link in client_of(user).get("/c/local/topics/orders").content.decode()
            for link in (change, delete)
        ]
        for user in (viewer, operator, admin)
    }
    assert shown == {
        "viewer": [False, False],
        "operator": [True, False],
        "admin": [True, True],
    }


def test_the_groups_that_read_a_topic_are_listed_with_their_lag(sampled, client_of, viewer):
    page = client_of(viewer).get("/c/local/topics/orders/consumers").content.decode()
    assert "billing" in page
    assert ">80<" in page


def test_an_unknown_topic_is_404_with_a_message(sampled, client_of, viewer):
    for tab in ("", "/config", "/consumers", "/messages"):
        for name in ("nope", "console.audit"):  # the second is there, and hidden
            response = client_of(viewer).get(f"/c/local/topics/{name}{tab}")
            assert response.status_code == 404
            assert f"There is no topic “{name}”." in response.content.decode()


@pytest.mark.parametrize("name", ["a%00b", "%E2%80%AEevil", "x" * 250])
def test_an_invalid_topic_name_is_not_repeated(sampled, client_of, viewer, name):
    answer = client_of(viewer).get(f"/c/local/topics/{name}")
    assert answer.status_code == 404
    assert "There is no such topic." in answer.content.decode()


def test_a_topic_newer_than_the_sample_can_be_opened(sampled, client_of, viewer, live_cluster):
    name = f"new-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(name, 1)
    Cluster.objects.filter(slug="local").update(
        bootstrap_servers=live_cluster.brokerd.bootstrap_servers
    )
    answer = client_of(viewer).get(f"/c/local/topics/{name}")
    assert answer.status_code == 200
    assert "No sample yet" in answer.content.decode()


def test_a_read_only_cluster_offers_no_change_and_says_so(sampled, client_of, admin):
    Cluster.objects.filter(slug="local").update(read_only=True)
    client = client_of(admin)
    page = client.get("/c/local/topics/orders").content.decode()
    assert "This cluster is read-only" in page
    links = [
        reverse("topic-add-partitions", args=["local", "orders"]),
        reverse("topic-delete", args=["local", "orders"]),
        reverse("topic-create", args=["local"]),
    ]
    assert not [link for link in links if link in page]
    listed = client.get("/c/local/topics").content.decode()
    assert "This cluster is read-only" in listed
    assert links[2] not in listed
    for link in links:
        for answer in (client.get(link), client.post(link)):
            assert answer.status_code == 422
            assert "read-only" in answer.content.decode()
            assert "Review the plan" not in answer.content.decode()


@pytest.mark.parametrize("change", ["topic-delete", "topic-add-partitions"])
def test_changes_to_internal_topics_are_refused_before_the_form(sampled, client_of, admin, change):
    link = reverse(change, args=["local", "__consumer_offsets"])
    client = client_of(admin)
    assert link not in client.get("/c/local/topics/__consumer_offsets").content.decode()
    answer = client.get(link)
    assert answer.status_code == 422
    assert "internal topic of the cluster" in answer.content.decode()
    assert "Review the plan" not in answer.content.decode()


def test_a_change_to_a_missing_topic_is_404(sampled, client_of, admin):
    for change in ("topic-delete", "topic-add-partitions"):
        assert client_of(admin).get(reverse(change, args=["local", "nope"])).status_code == 404


def test_before_the_first_sample_the_pages_say_what_to_do(clusters, redis_server, client_of, admin):
    client = client_of(admin)
    for path in ("", "topics", "groups", "brokers", "topics/orders", "groups/billing"):
        response = client.get(f"/c/local/{path}")
        assert response.status_code == 200
        assert "No sample yet" in response.content.decode()


def test_a_cluster_that_is_down_says_since_when_and_what_still_works(sampled, client_of, viewer):
    sample_next(status="gap", reason="No broker answers.", partitions=[], groups=[])
    page = client_of(viewer).get("/c/local/topics").content.decode()
    assert "has not been sampled since" in page
    assert "No broker answers." in page
    assert "/topics/orders" in page, "the last good figures stay"


def test_without_redis_the_pages_still_open(sampled, client_of, viewer, redis_server):
    redis_server.kill()
    for path in ("", "topics", "groups", "brokers", "groups/billing"):
        response = client_of(viewer).get(f"/c/local/{path}")
        assert response.status_code == 200
        assert "Live figures cannot be read" in response.content.decode()

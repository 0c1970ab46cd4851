"""The cluster of a page, and that of the page before."""

import pytest
from django.urls import reverse

from monitoring.models import Cluster
from tests.console.conftest import a_user


@pytest.fixture
def client(sampled, client_of, admin):
    """Signed in, with a second cluster whose slug is the first."""
    Cluster.objects.create(slug="aaa", name="Aaa", bootstrap_servers="127.0.0.1:1")
    return client_of(admin)


def menu_of(client, name):
    return client.get(reverse(name)).context["page"].menu_cluster.slug


def test_a_page_without_a_cluster_keeps_that_of_the_page_before(client):
    client.get(reverse("topics", args=["local"]))
    assert menu_of(client, "audit") == "local"
    client.get(reverse("topics", args=["aaa"]))
    assert menu_of(client, "audit") == "aaa"


def test_the_home_page_leads_to_the_cluster_of_the_page_before(client):
    client.get(reverse("topics", args=["local"]))
    assert client.get("/").url == reverse("dashboard", args=["local"])


def test_what_a_page_loads_does_not_change_the_cluster(client):
    client.get(reverse("topics", args=["local"]))
    loaded_by = {"Sec-Fetch-Mode": "cors"}
    client.get(reverse("topics", args=["aaa"]), headers=loaded_by)
    assert menu_of(client, "audit") == "local"


def test_a_cluster_that_the_user_may_not_see_is_not_taken_from_the_cookie(sampled, client_of):
    Cluster.objects.create(slug="aaa", name="Aaa", bootstrap_servers="127.0.0.1:1")
    client = client_of(a_user("scoped", "viewer", "local"))
    client.cookies["cluster"] = "aaa"
    assert client.get("/").url == reverse("dashboard", args=["local"])

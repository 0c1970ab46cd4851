"""The form's part about the schema registry, and its connection test."""

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from console.clusters import connection_check
from console.clusters.connection_check import ConnectionResult
from monitoring.models import Cluster
from tests.support.schema_registry import schema_registry

FORM = {
    "name": "Other", "slug": "other", "bootstrap_servers": "127.0.0.1:1",
    "security_protocol": "PLAINTEXT", "registry_url": "https://registry.example:8081",
    "registry_username": "ann", "new_registry_password": " top secret ",
}  # fmt: skip


@pytest.fixture
def browser(sampled, client_of, admin):
    return client_of(admin)


def add(browser, form):
    return browser.post(reverse("cluster-add"), form)


def edit(browser, form):
    return browser.post(reverse("cluster-edit", args=["other"]), form)


def stored():
    return Cluster.objects.get(slug="other")


def test_the_password_is_stored_encrypted_and_never_shown(browser):
    assert add(browser, FORM).status_code == 302
    registry = stored().registry()
    assert (registry.username, registry.password) == ("ann", " top secret ")
    assert "top secret" not in stored().registry_password
    page = browser.get(reverse("cluster-edit", args=["other"])).content.decode()
    assert "top secret" not in page
    assert stored().registry_password not in page
    entry = AuditEntry.objects.get()
    assert "top secret" not in str([entry.before, entry.after])
    assert entry.after["registry_url"] == "https://registry.example:8081"
    assert entry.after["secrets_changed"] == ["registry_password"]


def test_an_empty_password_keeps_the_stored_one(browser):
    add(browser, FORM)
    assert edit(browser, FORM | {"new_registry_password": "", "name": "New"}).status_code == 302
    assert stored().registry().password == " top secret "


@pytest.mark.parametrize(
    "change", [{"registry_url": "https://other.example"}, {"registry_username": "bob"}]
)
def test_a_kept_password_does_not_reach_another_server(browser, change):
    add(browser, FORM)
    page = edit(browser, FORM | {"new_registry_password": ""} | change)
    assert page.status_code == 422
    assert "Enter the password again" in page.content.decode()


def test_a_cluster_without_a_registry_keeps_no_password(browser):
    add(browser, FORM)
    change = {"registry_url": "", "registry_username": "", "new_registry_password": ""}
    assert edit(browser, FORM | change).status_code == 302
    assert stored().registry() is None
    assert stored().registry_password == ""


@pytest.mark.parametrize(
    "change",
    [{"registry_url": "ftp://x"}, {"registry_url": "http://x/?a=b"}, {"registry_url": ""},
     {"registry_url": "http://ann:secret@x"}, {"registry_username": ""},
     {"registry_ca_pem": "no certificate"}],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(browser, change):
    assert add(browser, FORM | change).status_code == 422
    assert not Cluster.objects.filter(slug="other").exists()


ANSWERS = ConnectionResult(True, "The cluster answers", "3 brokers.")


@pytest.mark.django_db
def test_the_connection_test_counts_subjects(settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    with schema_registry() as registry:
        registry.add("orders-value", '"string"')
        cluster = Cluster(registry_url=registry.url)
        result = connection_check.add_registry_result(cluster, ANSWERS)
    assert result == ConnectionResult(
        True, "The cluster answers", "3 brokers. The schema registry has 1 subject."
    )


@pytest.mark.django_db
def test_the_connection_test_says_why_a_registry_fails(settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    with schema_registry() as registry:
        registry.login = "ann:secret"
        cluster = Cluster(registry_url=registry.url)
        result = connection_check.add_registry_result(cluster, ANSWERS)
    assert not result.ok
    assert "refuses the login" in result.text
    result = connection_check.add_registry_result(Cluster(registry_url="http://10.0.0.1"), ANSWERS)
    assert "AERIE_EGRESS_ALLOW" in result.text


def test_a_cluster_without_a_registry_is_tested_as_before():
    assert connection_check.add_registry_result(Cluster(), ANSWERS) is ANSWERS

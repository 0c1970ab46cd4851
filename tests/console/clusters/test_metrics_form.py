"""Admin ports and metrics addresses in the form of a cluster."""

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from monitoring.models import Cluster
from tests.console.clusters.test_views import FORM as CLUSTER

FORM = CLUSTER | {
    "metrics_urls_text": "1 http://127.0.0.1:9/metrics\n2 https://127.0.0.1:9/metrics?broker=2",
    "new_metrics_token": "top-secret-token-of-metrics",
}
EDIT = "/clusters/other/edit"


@pytest.fixture
def browser(sampled, client_of, admin):
    client = client_of(admin)
    assert client.post(reverse("cluster-add"), FORM).status_code == 302
    return client


def test_addresses_are_stored_and_the_token_is_never_shown(browser):
    cluster = Cluster.objects.get(slug="other")
    assert cluster.metrics_urls == {
        "1": "http://127.0.0.1:9/metrics",
        "2": "https://127.0.0.1:9/metrics?broker=2",
    }
    assert cluster.decrypt_metrics_token() == "top-secret-token-of-metrics"
    page = browser.get(EDIT).content.decode()
    audited = AuditEntry.objects.get()
    assert "1 http://127.0.0.1:9/metrics\n2 https://127.0.0.1:9/metrics?broker=2" in page
    assert "top-secret" not in page + str([audited.before, audited.after])
    assert audited.after["metrics_urls"] == cluster.metrics_urls
    assert audited.after["secrets_changed"] == ["metrics_token"]


@pytest.mark.parametrize(
    ("line", "said"),
    [("one http://a/metrics", "Write one line for each broker"),
     ("1 ftp://a/metrics", "must start with http:// or https://"),
     ("1 http://user:pw@a/metrics", "must not contain a user name or password"),
     ("1 http://a/metrics#part", "it must have no #")],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_reported_beside_its_field(browser, line, said):
    answer = browser.post(EDIT, FORM | {"metrics_urls_text": line})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert "http://10.0.0.1:7071/metrics" in page


def test_a_stored_token_is_not_sent_to_another_address(browser):
    kept = FORM | {"new_metrics_token": "", "token": ""}
    moved = kept | {"metrics_urls_text": "1 http://127.0.0.1:10/metrics"}
    answer = browser.post(EDIT, moved)
    assert answer.status_code == 422
    assert "because a metrics address changed" in answer.content.decode()
    assert browser.post(EDIT, moved | {"new_metrics_token": "another"}).status_code == 302
    other_path = moved | {"metrics_urls_text": "1 http://127.0.0.1:10/other"}
    assert browser.post(EDIT, other_path).status_code == 302


def test_the_token_is_deleted_with_the_last_address(browser):
    browser.post(EDIT, FORM | {"new_metrics_token": "", "metrics_urls_text": ""})
    cluster = Cluster.objects.get(slug="other")
    assert (cluster.metrics_urls, cluster.metrics_token) == ({}, "")

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from console.accounts import outgoing_connection_rate_limit
from console.accounts.principal import Principal
from console.accounts.services import grant
from console.audit.models import AuditEntry
from console.clusters import connection_check
from monitoring.clusters import kafka_cluster_id
from monitoring.models import Cluster

FORM = {
    "name": "Other", "slug": "other", "bootstrap_servers": "127.0.0.1:1", "zookeeper_connect": "",
    "admin_urls_text": "1 http://127.0.0.1:9", "token": "top-secret-token",
    "security_protocol": "PLAINTEXT",
}  # fmt: skip


def test_an_admin_adds_a_cluster_and_the_token_is_encrypted_and_never_shown(
    sampled, client_of, admin
):
    client = client_of(admin)
    response = client.post(reverse("cluster-add"), FORM)
    assert response.status_code == 302
    cluster = Cluster.objects.get(slug="other")
    assert cluster.admin_urls == {"1": "http://127.0.0.1:9"}
    assert cluster.decrypt_admin_token() == "top-secret-token"
    edit = client.get(reverse("cluster-edit", args=["other"])).content
    audited = AuditEntry.objects.get()
    assert b"top-secret" not in edit
    assert "top-secret" not in str([audited.before, audited.after])
    assert audited.after["token_changed"] is True


def test_an_empty_token_keeps_the_present_one_and_the_slug_stays(sampled, client_of, admin):
    client = client_of(admin)
    client.post(reverse("cluster-add"), FORM)
    changed = FORM | {"token": "", "name": "Renamed", "slug": "elsewhere"}
    client.post(reverse("cluster-edit", args=["other"]), changed)
    cluster = Cluster.objects.get(slug="other")
    assert (cluster.name, cluster.decrypt_admin_token()) == ("Renamed", "top-secret-token")


def test_a_lower_role_on_one_cluster_overrides_admin_on_all(sampled, client_of, admin):
    client = client_of(admin)
    client.post(reverse("cluster-add"), FORM)
    grant(admin, "viewer", "other")
    client = client_of(get_user_model().objects.get(pk=admin.pk))
    edit, remove = (reverse(name, args=["other"]) for name in ("cluster-edit", "cluster-remove"))
    assert client.get(edit).status_code == 403
    assert client.post(remove, {"typed": "other"}).status_code == 403
    assert Cluster.objects.filter(slug="other").exists()


def test_a_stored_token_is_not_sent_to_another_address(sampled, client_of, admin):
    client = client_of(admin)
    client.post(reverse("cluster-add"), FORM)
    moved = FORM | {"token": "", "admin_urls_text": "1 http://127.0.0.1:9\n2 http://127.0.0.1:10"}
    edit = reverse("cluster-edit", args=["other"])
    refused = client.post(edit, moved)
    assert refused.status_code == 422
    assert "Enter the token again" in refused.content.decode()
    assert "Enter the token again" in client.post(edit, moved | {"test": "1"}).content.decode()
    assert Cluster.objects.get(slug="other").admin_urls == {"1": "http://127.0.0.1:9"}
    assert client.post(edit, moved | {"token": "another"}).status_code == 302
    assert client.post(edit, FORM | {"token": ""}).status_code == 302


@pytest.mark.parametrize(
    ("url", "is_another"),
    [("https://10.0.0.1:80", True), ("http://10.0.0.1:81", True), ("http://10.0.0.2", True),
     ("HTTP://10.0.0.1:80/", False)],
)  # fmt: skip
def test_the_token_must_be_entered_again_if_scheme_host_or_port_changes(
    sampled, client_of, admin, url, is_another
):
    client = client_of(admin)
    client.post(reverse("cluster-add"), FORM | {"admin_urls_text": "1 http://10.0.0.1"})
    edit = reverse("cluster-edit", args=["other"])
    answer = client.post(edit, FORM | {"token": "", "admin_urls_text": f"1 {url}"})
    assert answer.status_code == (422 if is_another else 302)


def test_a_token_that_cannot_be_encrypted_is_reported_at_its_field(
    sampled, client_of, admin, settings, tmp_path
):
    client = client_of(admin)
    client.post(reverse("cluster-add"), FORM)
    settings.AERIE_SECRET_KEY_FILE = tmp_path / "away"
    answer = client.post(reverse("cluster-edit", args=["other"]), FORM | {"name": "New"})
    assert answer.status_code == 422
    assert "is missing" in answer.content.decode()


@pytest.mark.parametrize(
    "wrong",
    [{"bootstrap_servers": "nonsense"}, {"bootstrap_servers": "host:99999"}, {"slug": "Ümlaut"},
     {"slug": "add"}, {"slug": "local"}, {"admin_urls_text": "one http://x"},
     {"admin_urls_text": "1 file:///etc/passwd"}, {"name": ""}],
)  # fmt: skip
def test_a_wrong_value_is_reported_beside_its_field(sampled, client_of, admin, wrong):
    response = client_of(admin).post(reverse("cluster-add"), FORM | wrong)
    assert response.status_code == 422
    assert b"invalid-feedback" in response.content
    assert Cluster.objects.count() == 2


@pytest.mark.parametrize(
    ("slug", "told"), [("Ümlaut", "lowercase letters"), ("local", "has this short name already")]
)
def test_a_wrong_short_name_is_reported_by_the_name_it_has_in_the_form(
    sampled, client_of, admin, slug, told
):
    page = client_of(admin).post(reverse("cluster-add"), FORM | {"slug": slug}).content.decode()
    assert told in page
    assert "“slug”" not in page
    assert "Slug already" not in page


def test_an_unknown_cluster_is_404_with_a_message(sampled, client_of, admin):
    client = client_of(admin)
    for answer in (
        client.get(reverse("cluster-edit", args=["nowhere"])),
        client.post(reverse("cluster-remove", args=["nowhere"])),
    ):
        assert answer.status_code == 404
        assert "There is no such cluster." in answer.content.decode()


def test_a_test_of_the_connection_saves_nothing_and_says_what_is_wrong(sampled, client_of, admin):
    response = client_of(admin).post(reverse("cluster-add"), FORM | {"test": "1"})
    assert "No broker answers" in response.content.decode()
    assert Cluster.objects.count() == 2


def test_tests_of_the_connection_are_limited(sampled, admin):
    cluster = Cluster(slug="x", bootstrap_servers="127.0.0.1:1")
    said = [connection_check.check_connection(Principal(admin), cluster).title
            for _ in range(outgoing_connection_rate_limit.PER_MINUTE_MAX + 1)]  # fmt: skip
    assert said[-1] == "Too many tests"
    assert set(said[:-1]) == {"No broker answers"}


def test_a_second_entry_of_a_cluster_is_recognised(
    db, redis_server, live_cluster, client_of, admin, outsider
):
    first = live_cluster.row("first")
    first.save()
    client = client_of(admin)
    form = FORM | {"bootstrap_servers": first.bootstrap_servers, "admin_urls_text": ""}
    page = client.post(reverse("cluster-add"), form, follow=True).content.decode()
    assert "leads to the same cluster" not in page, "of the first nothing is known yet"
    client.post(reverse("cluster-edit", args=["first"]), form | {"name": "First"})
    form["name"] = "Again"
    page = client.post(reverse("cluster-edit", args=["other"]), form, follow=True).content.decode()
    assert "“Again” and “First” are the same Kafka cluster. Masking rules apply" in page
    assert "the same cluster as First" in page
    grant(outsider, "viewer", "other")
    page = client_of(outsider).get(reverse("clusters")).content.decode()
    assert "Again" in page
    assert "First" not in page


def test_an_entry_that_leads_elsewhere_now_is_no_longer_the_same(sampled, client_of, admin):
    for cluster in sampled:
        kafka_cluster_id.record(cluster, "one-cluster")
    client = client_of(admin)
    assert "the same cluster as Staging" in client.get(reverse("clusters")).content.decode()
    elsewhere = {"name": "Local", "bootstrap_servers": "127.0.0.1:2"}
    page = client.post(reverse("cluster-edit", args=["local"]), elsewhere, follow=True)
    assert "the same cluster" not in page.content.decode()


def test_a_cluster_is_removed_only_with_its_name_typed(sampled, client_of, admin):
    client = client_of(admin)
    client.post(reverse("cluster-remove", args=["staging"]), {"typed": "yes"})
    assert Cluster.objects.count() == 2
    client.post(reverse("cluster-remove", args=["staging"]), {"typed": "staging"})
    assert [cluster.slug for cluster in Cluster.objects.all()] == ["local"]
    assert client.get("/c/staging/").status_code == 404


def test_the_list_shows_the_status_of_each_cluster(sampled, client_of, viewer):
    page = client_of(viewer).get(reverse("clusters")).content.decode()
    assert page.count("live") >= 2
    assert "Edit" in page
    assert reverse("cluster-edit", args=["local"]) not in page


def test_the_list_is_searched_and_sorted_and_is_a_file(sampled, client_of, viewer, outsider):
    browser, url = client_of(viewer), reverse("clusters")
    page = browser.get(f"{url}?sort=-cluster").content.decode()
    assert page.index('href="/c/staging/">Staging</a>') < page.index('href="/c/local/">Local</a>')
    assert 'href="?sort=-cluster&amp;format=csv" download' in page
    assert "Staging</a>\n" not in browser.get(f"{url}?q=loc").content.decode()
    assert "No cluster matches" in browser.get(f"{url}?q=nothing").content.decode()
    answer = browser.get(f"{url}?format=csv&q=loc")
    assert answer["Content-Disposition"] == 'attachment; filename="clusters.csv"'
    head, row = answer.content.decode().splitlines()
    assert head == "cluster,slug,samples,brokers,brokers-up,topics,lag,bootstrap,role"
    assert row == "Local,local,ok,1,1,2,80,127.0.0.1:1,viewer"
    grant(outsider, "viewer", "staging")
    assert "local" not in client_of(outsider).get(f"{url}?format=csv").content.decode().lower()


def test_a_cluster_without_a_sample_has_empty_fields_in_the_file(redis_server, client_of, viewer):
    Cluster.objects.create(slug="new", name="New", bootstrap_servers="127.0.0.1:1")
    answer = client_of(viewer).get(f"{reverse('clusters')}?format=csv")
    assert answer.content.decode().splitlines()[1] == "New,new,none,,,,,127.0.0.1:1,viewer"


def test_without_any_cluster_an_admin_is_led_to_add_one(db, redis_server, client_of, admin):
    response = client_of(admin).get(reverse("home"), follow=True)
    assert reverse("cluster-add") in response.content.decode()

import pytest
from django.core.exceptions import ValidationError

from monitoring.clusters.models import Cluster, parse_addresses


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a:1", [("a", 1)]),
        (" a.b-c:9092 , 10.0.0.1:65535,", [("a.b-c", 9092), ("10.0.0.1", 65535)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("", []),
    ],
)
def test_addresses_are_parsed(text, addresses):
    assert parse_addresses(text) == addresses


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:0", "a:65536", "a b:1", "http://a:1", "a:1;b:2"]
)
def test_the_error_for_an_invalid_address_contains_it(text):
    with pytest.raises(ValueError, match="is not host:port"):
        parse_addresses(text)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "fields",
    [
        {"bootstrap_servers": ""},
        {"bootstrap_servers": "nowhere"},
        {"zookeeper_connect": "nowhere/x"},
        {"admin_urls": {"one": "http://a"}},
        {"admin_urls": {"1": "file:///etc/passwd"}},
        {"admin_urls": ["http://a"]},
        {"admin_urls": {"1": "http://user:pw@a:9192"}},
        {"admin_urls": {"1": "http://[::1:9192"}},
        {"admin_urls": {"1": "http://127.0.0.1:99999"}},
        {"admin_urls": {"1": "http://a:9192/path"}},
        {"admin_urls": {"1": "http://a:9192?query"}},
        {"admin_urls": {"1": "http://a b:9192"}},
        {"slug": "Not A Slug"},
    ],
)
def test_invalid_cluster_settings_are_refused(fields):
    sound = {"slug": "c", "name": "C", "bootstrap_servers": "a:1"}
    with pytest.raises(ValidationError):
        Cluster(**(sound | fields)).full_clean()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:9192", "https://b1.example/", "http://[fd00::1]:9"]
)
def test_a_valid_admin_url_is_accepted(url):
    Cluster(slug="c", name="C", bootstrap_servers="a:1", admin_urls={"1": url}).full_clean()


@pytest.mark.django_db
def test_which_admin_url_is_wrong_is_reported():
    urls = {"1": "http://a:9192", "2": "http://a:99999"}
    with pytest.raises(ValidationError, match="broker 2 cannot be used: the URL does not parse"):
        Cluster(slug="c", name="C", bootstrap_servers="a:1", admin_urls=urls).full_clean()


def test_secrets_are_encrypted_and_decrypted():
    cluster = Cluster(slug="c")
    cluster.set_admin_token("t0ken")
    assert "t0ken" not in cluster.admin_token
    assert cluster.decrypt_admin_token() == "t0ken"

"""The form's part about TLS and SASL: secrets are stored encrypted, and never sent elsewhere."""

import pytest
from django.urls import reverse

from console.audit.models import AuditEntry
from monitoring.models import Cluster
from tests.support.pki import Authority

LOGIN = {
    "name": "Other", "slug": "other", "bootstrap_servers": "127.0.0.1:1",
    "security_protocol": "SASL_SSL", "check_host_name": "on", "sasl_mechanism": "PLAIN",
    "sasl_username": "ann", "new_sasl_password": " top secret ",
}  # fmt: skip
PKI = Authority("brokers")
CLIENT, ANOTHER = PKI.issue("aerie"), PKI.issue("another")
MUTUAL = {
    "name": "Other", "slug": "other", "bootstrap_servers": "127.0.0.1:1",
    "security_protocol": "SSL", "ca_pem": PKI.certificate, "certificate_pem": CLIENT.chain,
    "new_private_key": CLIENT.encrypted_key("k3y"), "new_private_key_password": "k3y",
}  # fmt: skip


@pytest.fixture
def browser(sampled, client_of, admin):
    return client_of(admin)


def add(browser, form):
    return browser.post(reverse("cluster-add"), form)


def edit(browser, form):
    return browser.post(reverse("cluster-edit", args=["other"]), form)


def test_a_password_is_stored_encrypted_and_never_shown(browser):
    assert add(browser, LOGIN).status_code == 302
    cluster = Cluster.objects.get(slug="other")
    assert cluster.kafka_client_settings().sasl.password == " top secret "
    assert "top secret" not in cluster.sasl_password
    page = browser.get(reverse("cluster-edit", args=["other"])).content.decode()
    assert "top secret" not in page
    assert cluster.sasl_password not in page
    entry = AuditEntry.objects.get()
    assert "top secret" not in str([entry.before, entry.after])
    assert entry.after["secrets_changed"] == ["sasl_password"]


def test_an_empty_password_keeps_the_stored_one(browser):
    add(browser, LOGIN)
    form = LOGIN | {"new_sasl_password": "", "name": "Renamed"}
    assert edit(browser, form).status_code == 302
    assert Cluster.objects.get(slug="other").kafka_client_settings().sasl.password == " top secret "


@pytest.mark.parametrize(
    "change",
    [{"bootstrap_servers": "127.0.0.1:2"}, {"security_protocol": "SASL_PLAINTEXT"},
     {"check_host_name": ""}, {"ca_pem": PKI.certificate}, {"sasl_username": "bob"},
     {"sasl_mechanism": "OAUTHBEARER", "token_url": "http://127.0.0.1:1/"}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
@pytest.mark.parametrize("button", ["save", "test"])
def test_a_stored_password_is_not_used_with_another_connection(browser, change, button):
    add(browser, LOGIN)
    answer = edit(browser, LOGIN | {"new_sasl_password": "", button: "1"} | change)
    assert answer.status_code == 422
    assert "Enter the password again" in answer.content.decode()


def test_a_password_that_is_not_used_any_more_is_deleted(browser):
    add(browser, LOGIN)
    assert edit(browser, LOGIN | {"security_protocol": "SSL"}).status_code == 302
    assert Cluster.objects.get(slug="other").sasl_password == ""


def test_a_client_certificate_is_stored_with_its_key(browser):
    assert add(browser, MUTUAL).status_code == 302
    tls = Cluster.objects.get(slug="other").kafka_client_settings().tls
    assert (tls.client_certificate_pem, tls.key_password) == (CLIENT.chain.strip(), "k3y")
    assert edit(browser, MUTUAL | {"new_private_key": "", "name": "Renamed"}).status_code == 302
    assert Cluster.objects.get(slug="other").kafka_client_settings().tls == tls


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"new_private_key": ANOTHER.encrypted_key("k3y")},
            "does not belong to the first certificate",
        ),
        ({"new_private_key_password": "wrong"}, "its password is missing or wrong"),
        ({"new_private_key": "nonsense"}, "no private key in PEM format"),
        ({"new_private_key": ""}, "Enter the private key of this certificate"),
        ({"certificate_pem": ""}, "Enter the certificate of this private key"),
        ({"certificate_pem": "nonsense"}, "no certificate in PEM format"),
        ({"ca_pem": "nonsense"}, "no certificate in PEM format"),
    ],
)
def test_a_wrong_certificate_or_key_is_reported(browser, change, error):
    answer = add(browser, MUTUAL | change)
    assert answer.status_code == 422
    assert error in answer.content.decode()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"sasl_mechanism": ""}, "Choose the mechanism"),
        ({"sasl_username": ""}, "Enter the user name"),
        ({"new_sasl_password": ""}, "Enter the password of the login"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "needs the URL of the token endpoint"),
        ({"sasl_mechanism": "GSSAPI"}, "Select a valid choice"),
        ({"security_protocol": "TLS"}, "Select a valid choice"),
        ({"token_url": "file:///etc/passwd"}, "must start with http:// or https://"),
    ],
)
def test_an_incomplete_login_is_reported(browser, change, error):
    answer = add(browser, LOGIN | change)
    assert answer.status_code == 422
    assert error in answer.content.decode()

import pytest
from django.contrib.auth.signals import user_login_failed
from django.urls import reverse

from console.accounts import sign_in_lockout
from console.audit.models import AuditEntry


def sign_in(client, password, username="viewer", **extra):
    return client.post(reverse("login"), {"username": username, "password": password, **extra})


def test_a_sign_in_with_the_right_password_is_audited(client, viewer, clusters, redis_server):
    response = sign_in(client, "viewer-password")
    assert response.status_code == 302
    assert client.get("/c/local/").status_code == 200
    assert AuditEntry.objects.get().action == "account.sign-in"


def test_the_error_does_not_reveal_whether_name_or_password_was_wrong(client, viewer, redis_server):
    known = sign_in(client, "wrong")
    unknown = sign_in(client, "wrong", username="nobody")
    assert known.status_code == unknown.status_code == 422
    assert b"correct username and password" in known.content


def test_a_refused_sign_in_is_audited_with_the_name_that_was_tried(client, viewer, redis_server):
    sign_in(client, "wrong", username="no\x00body")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.outcome, entry.resource) == (
        "account.sign-in", "refused", "nobody",
    )  # fmt: skip
    assert entry.remote_addr == "127.0.0.1"


@pytest.mark.parametrize(
    ("username", "password"),
    [("no\x00body", "x"), ("viewer", "no\x00thing"), ("viewer", "x" * 100_000), ("", ""),
     ("y" * 500, "x")],
)  # fmt: skip
def test_every_invalid_input_gets_the_same_error(client, viewer, redis_server, username, password):
    answer = sign_in(client, password, username)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Please enter a correct username and password" in page
    assert page.count("alert-danger") == 1


def test_after_too_many_failures_the_right_password_is_refused_too(client, viewer, redis_server):
    for _ in range(sign_in_lockout.MAX_PER_ACCOUNT):
        sign_in(client, "wrong")
    response = sign_in(client, "viewer-password")
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0


def test_a_locked_account_is_refused_without_a_password_check(client, viewer, redis_server):
    looked_at = []
    note = lambda credentials, **_: looked_at.append(credentials["username"])  # noqa: E731
    user_login_failed.connect(note)
    for _ in range(sign_in_lockout.MAX_PER_ACCOUNT):
        sign_in(client, "wrong")
    answers = [sign_in(client, "wrong", name) for name in ("viewer", " viewer", "\uff36iewer")]
    user_login_failed.disconnect(note)
    assert [answer.status_code for answer in answers] == [429] * 3
    assert "Wait 5 minutes" in answers[0].content.decode()
    assert looked_at == ["viewer"] * sign_in_lockout.MAX_PER_ACCOUNT
    locked = [entry.resource for entry in AuditEntry.objects.all() if entry.after]
    assert locked == ["viewer"], "one entry for the lockout, not one for each attempt"


def test_another_account_from_the_same_address_is_not_locked_with_it(
    client, viewer, operator, clusters, redis_server
):
    for _ in range(sign_in_lockout.MAX_PER_ACCOUNT):
        sign_in(client, "wrong")
    assert sign_in(client, "operator-password", username="operator").status_code == 302


def test_a_success_resets_the_failures(client, viewer, clusters, redis_server):
    for _ in range(sign_in_lockout.MAX_PER_ACCOUNT - 1):
        sign_in(client, "wrong")
    assert sign_in(client, "viewer-password").status_code == 302
    client.post(reverse("logout"))
    assert sign_in(client, "wrong").status_code == 422
    assert sign_in(client, "viewer-password").status_code == 302


def test_signing_in_works_while_redis_is_down(client, viewer, clusters, redis_server):
    redis_server.kill()
    assert sign_in(client, "wrong").status_code == 422
    assert sign_in(client, "viewer-password").status_code == 302


@pytest.mark.parametrize(
    "target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:x"]
)
def test_signing_in_never_leads_to_another_site(client, viewer, clusters, redis_server, target):
    response = sign_in(client, "viewer-password", next=target)
    assert response.url == reverse("home")


def test_the_sign_in_page_names_the_page_to_which_it_returns(client, clusters):
    page = client.get("/login?next=%2Fc%2Flocal%2Ftopics").content.decode()
    assert "You return to /c/local/topics." in page


@pytest.mark.parametrize("target", ["", "https://elsewhere.example/", "//elsewhere.example"])
def test_the_sign_in_page_never_names_another_site_as_its_return(client, clusters, target):
    page = client.get("/login", {"next": target}).content.decode()
    assert "You return to" not in page
    assert "elsewhere.example" not in page


def test_an_htmx_request_without_session_redirects_the_whole_page(client, clusters):
    response = client.get("/c/local/topics", headers={"HX-Request": "true"})
    assert response.status_code == 401
    assert response["HX-Redirect"] == "/login?next=%2Fc%2Flocal%2Ftopics"


def test_signing_out_needs_a_post(client_of, viewer, clusters):
    client = client_of(viewer)
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get("/c/local/").status_code == 302

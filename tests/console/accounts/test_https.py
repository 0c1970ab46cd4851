"""Behind HTTPS: what browsers are told, asked of a real server as a proxy asks it."""

import re

import httpx
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.console.conftest import a_user
from tests.support.web import served
from tests.support.worker import share_the_database

HOST = "console.example"


@pytest.fixture
def behind_a_proxy(transactional_db, redis_server, clusters, tmp_path):
    share_the_database()
    user = a_user("viewer", "viewer")
    user.password = PBKDF2PasswordHasher().encode("viewer-password", "salt", 1)  # the product's own
    user.save()
    # What makes uvicorn believe the proxy (stack/preparation.py).
    with served({"AERIE_ALLOWED_HOSTS": HOST}, tmp_path / "web.log", "--proxy-headers") as url:
        yield url


def signed_in(url: str, **headers: str) -> list[httpx.Response]:
    """The sign-in page and the answer to the form, as the proxy or a local browser gets them."""
    with httpx.Client(base_url=url, headers=headers) as client:
        page = client.get("/login")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token is not None
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        form = {"username": "viewer", "password": "viewer-password"}
        answer = client.post(
            "/login",
            data=form | {"csrfmiddlewaretoken": token[1]},
            headers={"Cookie": cookies, "Referer": f"https://{HOST}/login"},
        )
        assert answer.status_code == 302
        return [page, answer]


def cookies_of(answers: list[httpx.Response]) -> list[str]:
    return [line for answer in answers for line in answer.headers.get_list("set-cookie")]


def test_over_https_every_cookie_is_secure_and_browsers_stay_with_https(behind_a_proxy):
    answers = signed_in(behind_a_proxy, **{"Host": HOST, "X-Forwarded-Proto": "https"})
    set_cookies = cookies_of(answers)
    assert {line.partition("=")[0] for line in set_cookies} == {"csrftoken", "sessionid"}
    assert all("; Secure" in line for line in set_cookies)
    for answer in answers:
        assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_over_http_on_localhost_cookies_are_not_secure(behind_a_proxy):
    answers = signed_in(behind_a_proxy)
    assert len(cookies_of(answers)) >= 2
    assert not any("Secure" in line for line in cookies_of(answers))
    assert not any("strict-transport-security" in answer.headers for answer in answers)

"""The console as a person meets it: a real ASGI server, a real Chromium.

def test_x(web, page): page.goto(f"{web}/c/local/reports")

`web` serves the test's database and Redis (the test needs `transactional_db`). `page` fails the
test at its end for every script error and every refusal of the Content-Security-Policy.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.redis import RedisServer, free_port
from tests.support.worker import share_the_database

REPOSITORY = Path(__file__).resolve().parents[2]
_DEADLINE_S = 60
_SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture
def web(transactional_db: None, redis_server: RedisServer, tmp_path: Path) -> Iterator[str]:
    """The base URL of a server of its own."""
    share_the_database()
    port = free_port()
    log = tmp_path / "web.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "uvicorn", "console.asgi:application"),
                *("--port", str(port), "--log-level", "warning"),
            ],
            cwd=REPOSITORY,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "console.settings"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(log.read_text()) from None
            time.sleep(0.05)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a module.

    Not for the whole run: Playwright keeps an event loop running in this thread, in which no
    asynchronous test could start its own, and because of which Django's ORM refuses to work.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no chromium on PATH")
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=_SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: _note(problems, line.type, line.text))
    yield opened
    context.close()
    assert problems == []


def _note(problems: list[str], kind: str, text: str) -> None:
    # A form that is refused (422) is no mistake of the page.
    if kind == "error" and "422" not in text:
        problems.append(text)


def sign_in(page: Page, web: str, user: AbstractBaseUser) -> None:
    """As after the login page (which has tests of its own): a session in the database."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": web}])

"""The console as a person meets it: a real ASGI server, a real Chromium.

def test_x(web, page): page.goto(f"{web}/c/local/reports")

`web` serves the test's database and Redis (the test needs `transactional_db`). tests/browser has a
site of its own, which lives longer and is the quicker one where the database is not looked into.
"""

import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.support.chromium import HEADLESS_SHELL, chromium_path
from tests.support.forks import CONSOLE, Forked
from tests.support.ports import free_port
from tests.support.redis import RedisServer
from tests.support.worker import share_the_database

REPOSITORY = Path(__file__).resolve().parents[2]
_DEADLINE_S = 60
# Chromium also reports answers of 4xx and 503 that a test is about, and sockets left early.
_EXPECTED = (
    "the server responded with a status of 4",
    "status of 503",
    "closed before the connection is established",
)
_SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--process-per-site",
]  # fmt: skip


@contextmanager
def served(environment: Mapping[str, str], log: Path, *options: str) -> Iterator[str]:
    """The base URL of a real server of the product, for as long as the block lasts."""
    port = free_port()
    with log.open("wb") as output:
        process = CONSOLE.start(
            "uvicorn", "console.asgi:application", "--port", str(port), "--log-level", "warning",
            *options,
            output=output,
            environ=os.environ | {"DJANGO_SETTINGS_MODULE": "console.settings"} | environment,
        )  # fmt: skip
    try:
        _wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: Forked, log: Path) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(log.read_text()) from None
            time.sleep(0.05)


@pytest.fixture
def web(transactional_db: None, redis_server: RedisServer, tmp_path: Path) -> Iterator[str]:
    """The base URL of a server on the test's database."""
    share_the_database()
    with served({}, tmp_path / "web.log") as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a module.

    Not for the whole run: Playwright keeps an event loop running in this thread, in which no
    asynchronous test could start its own, and because of which Django's ORM refuses to work.
    """
    # The same browser without windows, menus and start page takes half the CPU time.
    path = chromium_path(HEADLESS_SHELL)
    if path is None:
        pytest.skip("there is no chromium on PATH")
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=_SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with context_of(chromium, viewport={"width": 1280, "height": 900}) as context:
        opened = context.new_page()
        opened.set_default_timeout(30_000)
        yield opened


@contextmanager
def context_of(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser of its own, of whose pages nobody complains: no script error, nothing that the
    Content-Security-Policy refused, no file that is missing."""
    context = browser.new_context(**options)
    complaints = complaints_of(context)
    yield context
    context.close()
    assert complaints == []


def complaints_of(context: BrowserContext) -> list[str]:
    """What is complained of from now on, as it comes."""
    complaints: list[str] = []
    context.on("weberror", lambda error: complaints.append(f"{error.page}: {error.error}"))
    context.on("console", lambda line: _note(complaints, line))
    return complaints


def _note(complaints: list[str], line: ConsoleMessage) -> None:
    if line.type in ("error", "warning") and not any(text in line.text for text in _EXPECTED):
        complaints.append(f"{line.page.url if line.page else ''}: {line.text}")


def sign_in(page: Page, web: str, user: AbstractBaseUser) -> None:
    """As after the login page (which has tests of its own): a session in the database."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": web}])

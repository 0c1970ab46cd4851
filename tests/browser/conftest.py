"""The console as people get it: a real web server, a real Chromium, ticks put by hand.

The site has a database and a data folder of its own and shares the suite's Redis. `page_as(role)`
opens a page that is signed in; at the end of a test anything that the browser complained of (a
Content-Security-Policy violation, an error in a script, a file that is missing) fails it.
"""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.redis import RedisServer, free_port

ROOT = Path(__file__).resolve().parents[2]
SEED = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth import get_user_model
from console.accounts.services import grant
from monitoring.models import Cluster
for role in ("viewer", "operator", "admin", "outsider"):
    user = get_user_model().objects.create_user(role, password=role + "-password")
    if role != "outsider":
        grant(user, role)
for slug in ("local", "staging"):
    Cluster.objects.create(slug=slug, name=slug.title(), bootstrap_servers="127.0.0.1:1")
"""
READY_SECONDS = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def site(_redis_process: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running console."""
    data = tmp_path_factory.mktemp("site")
    environment = os.environ | {
        "AERIE_DATA": str(data),
        "AERIE_SECRET_KEY_FILE": os.environ["AERIE_SECRET_KEY_FILE"],
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", SEED]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    port = free_port()
    log = (data / "web.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "console.asgi:application", "--port", str(port),
         "--log-level", "warning"],
        cwd=ROOT, env=environment, stdout=log, stderr=log,
    )  # fmt: skip
    try:
        _wait(f"http://127.0.0.1:{port}/healthz", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()
        log.close()


def _wait(url: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline or server.poll() is not None:
                raise
            time.sleep(0.05)


@pytest.fixture(scope="module")
def sessions(site: str, chromium: Browser) -> Callable[[str], list]:
    """The cookies of each of the cast; they sign in by the form, once."""
    known: dict[str, list] = {}

    def cookies(role: str) -> list:
        if role not in known:
            context = chromium.new_context()
            page = context.new_page()
            page.goto(f"{site}/login")
            page.fill("#id_username", role)
            page.fill("#id_password", f"{role}-password")
            page.click("button[type=submit]")
            page.wait_for_url(lambda url: "/login" not in url)
            known[role] = context.cookies()
            context.close()
        return known[role]

    return cookies


@pytest.fixture
def page_as(
    site: str, chromium: Browser, sessions: Callable[[str], list]
) -> Iterator[Callable[..., Page]]:
    """A function that opens a page signed in as a role ("" = as a stranger)."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(role: str, width: int = 1440, scheme: str = "light") -> Page:
        context = chromium.new_context(
            base_url=site,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        contexts.append(context)
        if role:
            context.add_cookies(sessions(role))
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("console", lambda said: _note(page, said, complaints))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _note(page: Page, said, complaints: list[str]) -> None:  # type: ignore[no-untyped-def]
    if said.type in ("error", "warning") and not _is_expected(said.text):
        complaints.append(f"{page.url}: {said.text}")


def _is_expected(text: str) -> bool:
    """Chromium also reports pages that answer 4xx or 503 on purpose, and sockets left early."""
    return (
        "the server responded with a status of 4" in text
        or "status of 503" in text
        or "closed before the connection is established" in text
    )

"""The console as people get it: a real web server, a real Chromium, ticks put by hand.

The site has a database and a data folder of its own and shares the suite's Redis. `page_as(role)`
opens a page that is signed in.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.pages import begin
from tests.support.ports import free_port
from tests.support.redis import RedisServer
from tests.support.web import REPOSITORY, complaints_of, context_of, served

expect.set_options(timeout=15_000)  # a busy machine takes its time; nothing here is measured

SEED = """
from datetime import timedelta
from django.utils import timezone
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth import get_user_model
from console.accounts.services import grant
from monitoring.models import Cluster
from django.conf import settings
from django.test import Client
keys = {}
for role in ("viewer", "operator", "admin", "outsider"):
    user = get_user_model().objects.create_user(role, password=role + "-password")
    if role != "outsider":
        grant(user, role)
    browser = Client()
    browser.force_login(user)
    keys[role] = browser.cookies[settings.SESSION_COOKIE_NAME].value
import json
(settings.AERIE_DATA / "sessions.json").write_text(json.dumps(keys))
for slug in ("local", "staging"):
    Cluster.objects.create(
        slug=slug, name=slug.title(), bootstrap_servers="127.0.0.1:1", holds_own_topics=True
    )
from monitoring.models import Alert, AlertDelivery, AlertRule
rule = AlertRule(pk=1, cluster_id=1, name="late", group_pattern="bill*", threshold=50)
rule.set_webhook("https://hooks.example/x", "s3cret")
rule.save()
told = {"rule": rule, "cluster_id": 1, "since_ms": 1, "fired_at_ms": 1, "fired_tick": 1}
for group, state in (("billing", "firing"), ("old", "resolved")):
    alert = Alert.objects.create(**told, group=group, state=state, lag=80, threshold=50,
                                 resolved_at_ms=9000 if state == "resolved" else None)
later = timezone.now() + timedelta(hours=1)
for state, error in (("waiting", ""), ("failed", "answered 500"), ("delivered", "")):
    AlertDelivery.objects.create(rule=rule, alert=alert, event="fired", payload={}, state=state,
                                 attempts=1, error=error, next_attempt_at=later)
from monitoring.models import Backfill, PipelineRun, PipelineState
from monitoring.error_reason import Reason, dumps
level = {"last_ms": 9000, "rows": 10, "files": 8, "bytes": 5000, "bytes_a_day": 4000,
         "seconds": 7}
PipelineState.objects.create(
    cluster_id=1, seen_ms=9000, levels={"raw": level, "minute": level}, waiting_hours=1,
)
Backfill.objects.create(cluster_id=1, from_ms=0, to_ms=10_800_000, next_ms=3_600_000)
for state, error in (("failed", dumps(Reason("disk_full", why="No space left"))), ("done", "")):
    PipelineRun.objects.create(cluster_id=1, kind="hour", attempt=3, state=state,
                               start_ms=3_600_000 if error else 0, started_at=timezone.now(),
                               seconds=7, rows=9, bytes=9, error=error)
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


# Not that of a stack that runs beside the tests.
_SPARK_CONNECT_PORT = str(free_port())


def environment_of(data: Path) -> dict[str, str]:
    return {
        "AERIE_DATA": str(data),
        "AERIE_SECRET_KEY_FILE": os.environ["AERIE_SECRET_KEY_FILE"],
        "REDIS_URL": settings.REDIS_URL,
        "SPARK_CONNECT_PORT": _SPARK_CONNECT_PORT,
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a new site, to be copied."""
    data = tmp_path_factory.mktemp("seeded")
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", SEED]
    subprocess.run(command, cwd=REPOSITORY, env=os.environ | environment_of(data), check=True)
    return data


@pytest.fixture(scope="session")
def data_of_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all sites: so they have the same environment (tests/support/forks.py)."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(seeded: Path, data_of_site: Path, _redis_process: RedisServer) -> Iterator[str]:
    """The address of a running console."""
    data = data_of_site
    shutil.rmtree(data)
    shutil.copytree(seeded, data)
    begin()
    with served(environment_of(data), data / "web.log") as url:
        yield url


@pytest.fixture(scope="module")
def sessions(site: str, seeded: Path) -> Callable[[str], list]:
    """The cookies of each of the cast, as after the login page, which has tests of its own."""
    keys = json.loads((seeded / "sessions.json").read_text())
    return lambda role: [{"name": settings.SESSION_COOKIE_NAME, "value": keys[role], "url": site}]


@pytest.fixture(scope="module")
def context_as(
    site: str, chromium: Browser, sessions: Callable[[str], list]
) -> Iterator[Callable[[str], tuple[BrowserContext, list[str]]]]:
    """A function that tells the context of a role and what is complained of there.

    It is that of all tests of a module: most of the work of a first page is to load and compile
    what all pages need. Its first page stays open, for with the last one all of that is gone.
    """
    made: dict[str, tuple[BrowserContext, list[str]]] = {}

    def of(role: str) -> tuple[BrowserContext, list[str]]:
        if role not in made:
            context = chromium.new_context(base_url=site)
            made[role] = context, complaints_of(context)
            context.add_cookies(sessions(role))
            context.new_page().goto("/healthz")
        return made[role]

    yield of
    for context, _ in made.values():
        context.close()


@pytest.fixture
def page_as(
    site: str, chromium: Browser, context_as: Callable[[str], tuple[BrowserContext, list[str]]]
) -> Iterator[Callable[..., Page]]:
    """A function that opens a page signed in as a role ("" = as a stranger).

    At the end nobody may complain of it, and what it has stored in the browser is forgotten.
    """
    used: dict[str, tuple[BrowserContext, list[str]]] = {}
    with ExitStack() as strangers:

        def open_page(role: str, width: int = 1440, scheme: str = "light") -> Page:
            if role:
                used[role] = context_as(role)
                context = used[role][0]
            else:
                context = strangers.enter_context(context_of(chromium, base_url=site))
            page = context.new_page()
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            return page

        yield open_page
    for context, complaints in used.values():
        first, *others = context.pages
        for page in others:
            page.close()
        first.evaluate("localStorage.clear()")
        found = complaints.copy()
        complaints.clear()
        assert found == []

"""The pages of a schema registry's subjects in a browser, as each role sees them."""

import itertools

import pytest
from playwright.sync_api import expect

from monitoring.models import Cluster
from tests.browser.faults import faults
from tests.console.conftest import a_user
from tests.monitoring.schema_registry import serialized
from tests.support.schema_registry import schema_registry
from tests.support.web import sign_in

PAGES = ["schemas", "schemas/payments-value?version=2&compare=1"]
FORMS = [
    "schema-create",
    "schema-register/payments-value",
    "schema-compatibility/payments-value",
]
DELETE = "schema-delete/payments-value"


@pytest.fixture
def registry(transactional_db, monkeypatch):
    """A cluster whose registry has three subjects, one of them with two versions."""
    monkeypatch.setenv("AERIE_EGRESS_ALLOW", "127.0.0.1")  # of the web server
    with schema_registry() as running:
        serialized.add_all(running)
        running.add("payments-value", serialized.AVRO_SCHEMA.replace('"user"', '"buyer"'))
        Cluster.objects.create(
            slug="local",
            name="Local",
            bootstrap_servers="127.0.0.1:1",
            registry_url=running.url,
        )
        yield running


def test_every_page_of_schemas_stands_in_light_and_dark_on_desk_and_phone(registry, web, page):
    sign_in(page, web, a_user("boss", "admin"))
    found = {}
    for path in [*PAGES, *FORMS, DELETE]:
        assert page.goto(f"{web}/c/local/{path}").status == 200
        for width, scheme in itertools.product((1440, 390), ("light", "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            found[path, width, scheme] = [*faults(page), *([f"{wider} px wider"] * (wider > 0))]
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("role", "shown", "refused"),
    [("viewer", PAGES, [*FORMS, DELETE]), ("operator", [*PAGES, *FORMS], [DELETE])],
)
def test_a_role_opens_its_pages_of_schemas_and_no_others(registry, web, page, role, shown, refused):
    sign_in(page, web, a_user("someone", role))
    assert [page.goto(f"{web}/c/local/{path}").status for path in shown] == [200] * len(shown)
    for path in refused:
        assert page.goto(f"{web}/c/local/{path}").status == 403
        expect(page.locator("h1")).to_have_text("Not allowed")


def test_someone_without_rights_sees_no_schema(registry, web, page):
    sign_in(page, web, a_user("outsider"))
    paths = [*PAGES, *FORMS, DELETE]
    assert [page.goto(f"{web}/c/local/{path}").status for path in paths] == [404] * len(paths)


def test_two_versions_of_a_schema_are_compared(registry, web, page):
    sign_in(page, web, a_user("reader", "viewer"))
    page.goto(f"{web}/c/local/schemas")
    expect(page.locator("#subjects tbody tr")).to_have_count(3)
    page.click("#subjects a:has-text('payments-value')")
    page.select_option("[name=compare]", "1")
    page.click("button:has-text('Show')")
    expect(page.locator("main")).to_contain_text("buyer")
    expect(page.locator("main")).to_contain_text("user")

"""What people need who see little, use no mouse, or are read to."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.faults import faults
from tests.browser.pages import put


@pytest.fixture(autouse=True)
def _ticks(redis_server, site):
    put("local")
    put("staging")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_page_has_no_fault(page_as, scheme):
    page = page_as("", scheme=scheme)
    page.goto("/login")
    assert faults(page) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("e => e.style.setProperty('color', '#bbb')", "h1"),
        ("e => { e.innerHTML = '<button><svg></svg></button>' }", "button-name: <button>"),
        ("e => { e.innerHTML = '<button>x<a href=y>z</a></button>' }", "nested-interactive: "),
        ("e => { e.outerHTML = '<h3>Topics</h3>' }", "page-has-heading-one: <html"),
        ("e => document.querySelector('main').append(document.createElement('main'))", "main"),
        ("e => document.querySelectorAll('nav').forEach(n => { n.ariaLabel = 'x' })", "unique"),
        ("e => { e.innerHTML = '<ul><p>x</p></ul>' }", "list: <ul>"),
        ("e => { e.id = 'content' }", "id twice: content"),
        ("e => e.setAttribute('aria-describedby', 'gone')", "no such id: gone"),
    ],
)
def test_a_fault_is_found(page_as, change, fault):
    page = page_as("viewer")
    page.goto("/c/local/topics")
    page.locator("h1").evaluate(change)
    assert any(fault in found for found in faults(page))


def test_what_scrolls_can_be_reached_by_the_keyboard(page_as):
    page = page_as("viewer")
    page.goto("/c/local/groups/billing")
    members = page.locator("#live-group-members .table-responsive")
    # Not the text of a cell: the first live update would replace it.
    rule = "#live-group-members td { min-width: 3000px }"
    page.evaluate("rule => document.styleSheets[0].insertRule(rule)", rule)
    expect(members).to_have_attribute("tabindex", "0")
    expect(members).to_have_role("region")
    expect(members).to_have_accessible_name("Members")
    page.evaluate("() => document.styleSheets[0].deleteRule(0)")
    expect(members).not_to_have_attribute("tabindex", "0")


def has_ring(page: Page) -> bool:
    """Whether what has the focus looks different from how it looks without."""
    look = """e => {
      const of = () => { const s = getComputedStyle(e); return s.outline + s.boxShadow + s.top; };
      const focused = of(); e.blur(); const plain = of(); e.focus({ focusVisible: true });
      return focused !== plain;
    }"""
    return bool(page.evaluate(f"({look})(document.activeElement)"))


@pytest.mark.parametrize("path", ["/c/local/topics", "/c/local/alerts/rules/1"])
def test_the_keyboard_shows_where_it_is(page_as, path):
    page = page_as("admin")
    page.goto(path)
    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    expect(page.locator(".skip-link")).to_be_in_viewport()
    for _ in range(25):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        assert has_ring(page), page.evaluate("document.activeElement.outerHTML.slice(0, 160)")


def test_who_wants_no_motion_sees_none(page_as):
    page = page_as("viewer")
    page.goto("/ui")
    moving = "() => document.getAnimations().length"
    assert page.evaluate(moving) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(moving) == 0


def test_a_banner_is_read_out_once_and_not_at_every_second(page_as):
    put(status="gap", reason="No broker answers.", partitions=[], groups=[])
    page = page_as("viewer")
    page.goto("/c/local/topics")
    banner = page.locator("#live-banner [role=alert]")
    expect(banner).to_be_visible()
    expect(banner.locator("time.age")).to_have_attribute("aria-hidden", "true")

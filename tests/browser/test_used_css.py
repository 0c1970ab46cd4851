"""The reduced Tabler gives every page the look that all of Tabler gives it."""

import pytest
from playwright.sync_api import Page

from tests.browser.pages import FOR_ADMINS, FOR_OPERATORS, PAGES, put

# Each element's style with both sheets; what differs, in short.
COMPARE = """async (full) => {
  const settled = () => {
    for (const one of document.getAnimations()) {
      if (one.effect.getComputedTiming().endTime === Infinity) one.cancel(); else one.finish();
    }
  };
  const styles = () => {
    settled();
    return [...document.querySelectorAll("body, body *")].flatMap((element) =>
      ["", "::before", "::after"].map((part) => getComputedStyle(element, part || null).cssText));
  };
  const sheet = document.querySelector('link[href*="derived/tabler"]');
  const before = styles();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = full;
  await new Promise((resolve, reject) => {
    Object.assign(link, { onload: resolve, onerror: () => reject(new Error("no " + full)) });
    sheet.after(link);
  });
  sheet.remove();
  const after = styles();
  const elements = [...document.querySelectorAll("body, body *")];
  const changed = before.flatMap((text, at) => {
    if (text === after[at]) return [];
    const now = after[at].split("; ");
    const which = text.split("; ").map((one, i) => (one === now[i] ? "" : one + " / " + now[i]));
    const element = elements[Math.floor(at / 3)];
    return [element.tagName + "." + element.className + ": " + which.filter(Boolean).slice(0, 3)];
  });
  return before.length === after.length ? changed.slice(0, 5) : ["the page changed meanwhile"];
}"""
FULL = "/static/vendor/tabler/tabler.min.css"


@pytest.fixture(autouse=True)
def _ticks(redis_server, site):
    put("local")
    put("staging")


def differences_of(page: Page, path: str) -> list[str]:
    page.goto(path)
    page.wait_for_load_state("load")
    changed: list[str] = page.evaluate(COMPARE, FULL)
    return changed


def differences(page: Page, paths: list[str]) -> dict[str, list[str]]:
    found = {}
    for path in paths:
        # Once more, for an age on the page may change between the two looks.
        if differences_of(page, path) and (changed := differences_of(page, path)):
            found[path] = changed
    return found


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_element_looks_different_with_all_of_tabler(page_as, width, scheme):
    page = page_as("admin", width, scheme)
    assert differences(page, PAGES + FOR_OPERATORS + FOR_ADMINS) == {}

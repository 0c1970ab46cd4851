"""What is wrong with an open page for who sees little or is read to."""

from pathlib import Path

from playwright.sync_api import Page

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
# What a screen reader could call by no name, in short.
NAMELESS = """() => [...document.querySelectorAll(
  "a[href], button, summary, input:not([type=hidden]), select, textarea, nav, [role=img]"
)].filter((e) => e.checkVisibility() && !(
  e.ariaLabel || e.title || [...(e.labels ?? [])].some((label) => label.textContent.trim())
  || (!/^(INPUT|SELECT|TEXTAREA|NAV)$/.test(e.tagName) && e.textContent.trim())
)).map((e) => "no name: " + e.outerHTML.slice(0, 120))"""
REFERENCES = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const told = [...document.querySelectorAll("[aria-describedby], [aria-controls], label[for]")]
    .flatMap((e) => [e.getAttribute("aria-describedby"), e.getAttribute("aria-controls"),
                     e.htmlFor]).filter(Boolean).flatMap((names) => names.split(" "));
  return [
    ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => "id twice: " + id),
    ...told.filter((id) => !ids.includes(id)).map((id) => "no such id: " + id),
    ...[...document.querySelectorAll("th:not([scope])")].map((th) => "no scope: " + th.textContent),
  ];
}"""


def faults(page: Page) -> list[str]:
    """Every fault of the page as it is shown now."""
    return [text for script in (CONTRAST, NAMELESS, REFERENCES) for text in page.evaluate(script)]

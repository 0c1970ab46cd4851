"""What is wrong with an open page for users who see little, use no mouse, or hear the page."""

from pathlib import Path

from playwright.sync_api import Page

HERE = Path(__file__).parent
CONTRAST = (HERE / "contrast.js").read_text()
AXE = (HERE / "vendor" / "axe" / "axe.min.js").read_text()
# axe knows landmarks, headings, lists, names, nested controls, and what scrolls but has no focus.
# contrast.js says of every text whether it can be read; axe leaves some of them undecided.
RUN_AXE = """async () => {
  const rules = { "color-contrast": { enabled: false } };
  const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""
# What axe does not look for.
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
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"(() => {{ {AXE} }})()")
    told = [text for script in (RUN_AXE, REFERENCES) for text in page.evaluate(script)]
    return unreadable(page) + told


def unreadable(page: Page) -> list[str]:
    """The texts that have too little contrast, which is all that a theme can do wrong."""
    found: list[str] = page.evaluate(CONTRAST)
    return found

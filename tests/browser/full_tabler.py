"""What an open page would look like with all of Tabler, in place of the rules that pages use."""

from playwright.sync_api import Page

FULL = "/static/vendor/tabler/tabler.min.css"
# Each element's style with both sheets; what differs, in short. All of Tabler is loaded first: both
# looks are taken at once, so that the page cannot change in between.
COMPARE = """async (full) => {
  const sheet = document.querySelector('link[href*="derived/tabler"]');
  const link = document.createElement("link");
  await new Promise((resolve, reject) => {
    Object.assign(link, { rel: "stylesheet", media: "not all", href: full, onload: resolve,
                          onerror: () => reject(new Error("no " + full)) });
    sheet.after(link);
  });
  await document.fonts.ready;
  const elements = [...document.querySelectorAll("body, body *")];
  const styles = () => {
    for (const one of document.getAnimations()) {
      if (one.effect.getComputedTiming().endTime === Infinity) one.cancel(); else one.finish();
    }
    return elements.flatMap((element) => ["", "::before", "::after"].map((part) => {
      const style = getComputedStyle(element, part || null);
      const isThere = !part || !["none", "normal"].includes(style.content);
      return isThere ? style.cssText : "";
    }));
  };
  const before = styles();
  link.media = "all";
  sheet.disabled = true;
  const after = styles();
  sheet.disabled = false;
  link.remove();
  return before.flatMap((text, at) => {
    if (text === after[at]) return [];
    const now = after[at].split("; ");
    const which = text.split("; ").map((one, i) => (one === now[i] ? "" : one + " / " + now[i]));
    const element = elements[Math.floor(at / 3)];
    return [element.tagName + "." + element.className + ": " + which.filter(Boolean).slice(0, 3)];
  }).slice(0, 5);
}"""


def differences(page: Page) -> list[str]:
    """The first elements that would look different with all of Tabler."""
    found: list[str] = page.evaluate(COMPARE, FULL)
    return found

"""Takes the README's pictures from a running stack: `.venv/bin/python -m tools.screenshots`.

Signs in as `admin` with AERIE_ADMIN_PASSWORD, or with the password that `make up` generated. Needs
Chromium and the packages of requirements/dev.lock. Writes into docs/images/.
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.support.chromium import chromium_path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
ADDRESS = f"http://127.0.0.1:{os.environ.get('AERIE_PORT', '8000')}"
SETTLED_MS = 2500  # charts are drawn after the page has loaded
PICTURES = {
    "dashboard": ("/c/local/", "light"),
    "group": ("/c/local/groups/demo-slow?range=15m", "dark"),
}
BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def password() -> str:
    """Of the account `admin` of this stack."""
    data = Path(os.environ.get("AERIE_DATA", ROOT / "data"))
    given = os.environ.get("AERIE_ADMIN_PASSWORD")
    return given or (data / "admin.password").read_text().strip()


def sign_in(page: Page) -> None:
    page.goto(f"{ADDRESS}/login")
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", password())
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/login" not in url)


def main() -> None:
    chromium = chromium_path()
    if chromium is None:
        sys.exit("screenshots: there is no chromium on PATH; install it first.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_FLAGS)
        for name, (path, theme) in PICTURES.items():
            context = browser.new_context(
                viewport={"width": 1360, "height": 850}, color_scheme=theme
            )
            page = context.new_page()
            sign_in(page)
            page.goto(ADDRESS + path)
            page.wait_for_timeout(SETTLED_MS)
            page.screenshot(path=IMAGES / f"{name}.png")
            print(f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()

"""Finds the Chromium of this machine."""

import shutil

HEADLESS_SHELL = "chromium-headless-shell"
NAMES = ("chromium", "chromium-browser", HEADLESS_SHELL)


def chromium_path(first: str = NAMES[0]) -> str | None:
    """The path of the program `first`, else of another one that is installed; None without any."""
    names = sorted(NAMES, key=lambda name: name != first)
    return next(filter(None, map(shutil.which, names)), None)

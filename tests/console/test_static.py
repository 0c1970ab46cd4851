"""In development static files are served from their folders, which may change at any time."""

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client


@pytest.fixture
def folder(tmp_path: Path, settings):
    settings.STATICFILES_DIRS = [tmp_path]
    settings.WHITENOISE_AUTOREFRESH = True
    settings.WHITENOISE_USE_FINDERS = True
    finders.get_finder.cache_clear()
    yield tmp_path
    finders.get_finder.cache_clear()


def test_a_file_that_changes_is_served_whole(folder: Path) -> None:
    browser = Client()
    for text in ("a{}", "a{} b{} c{}", "a"):
        (folder / "some.css").write_text(text)
        answer = browser.get("/static/some.css")
        assert b"".join(answer.streaming_content).decode() == text
        assert answer["Content-Length"] == str(len(text))


@pytest.mark.parametrize("path", ["../settings.py", "..%2fsettings.py", "//etc/passwd", "none.css"])
def test_nothing_outside_the_folder_is_served(folder: Path, path: str, db) -> None:
    assert Client().get(f"/static/{path}").status_code in (302, 404)

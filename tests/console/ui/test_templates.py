"""What no template may do, and what every one must find."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "app").glob("*.js"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_have_no_inline_scripts_and_no_external_files(path):
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=", text), "an inline style"
    assert "<style" not in text
    assert not re.search(r"\s(on[a-z]+|hx-on\S*|hx-vals=.js)\s*=", text), "an inline handler"
    assert not re.search(r"<script(?![^>]*\ssrc=)", text), "an inline script"
    assert not re.search(r"(src|href|action)=[\"']?(https?:)?//", text), "something from elsewhere"


def test_every_icon_that_is_named_is_in_the_sprite():
    sprite = (ROOT / "static/vendor/icons/icons.svg").read_text()
    there = set(re.findall(r'<symbol id="([^"]+)"', sprite))
    named = set()
    for path in [*TEMPLATES, *(ROOT / "console").rglob("*.py")]:
        text = path.read_text()
        named |= set(re.findall(r'{% icon "([^"]+)"', text))
        named |= set(re.findall(r'\sicon="([a-z0-9-]+)"', text))
    assert named <= there


def test_the_hand_written_css_stays_small():
    sheets = (ROOT / "static/css").glob("*.css")
    assert sum(len(sheet.read_text().splitlines()) for sheet in sheets) <= 750


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_small_modules_that_evaluate_nothing(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 200
    assert not re.search(r"\beval\(|new Function|innerHTML|document\.write", text)


def test_the_component_page_shows_every_component(client_of, viewer, sampled):
    page = client_of(viewer).get("/ui").content.decode()
    marks = (
        "stat-value sparkline-line facts-line badge alert-danger alert-actions progress-line "
        "progress-bar-native aria-sort pagination empty-title is-invalid tab-count panel "
        "dropdown-menu"
    )
    assert [mark for mark in re.findall(r"\S+", marks) if mark not in page] == []
